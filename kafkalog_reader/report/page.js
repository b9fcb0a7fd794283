"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const bytesOf = (element) => Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
  const unpacked = (bytes) =>
    new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();

  // Commands: a button copies them.
  const addCopyButtons = (root) => {
    for (const block of root.querySelectorAll("pre.commands")) {
      if (block.querySelector("button")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Copy";
      button.addEventListener("click", async () => {
        const text = [...block.querySelector("code").childNodes]
          .map((node) => (node.nodeName === "BR" ? "\n" : node.textContent)).join("");
        try {
          await navigator.clipboard.writeText(text + "\n");
          button.textContent = "Copied";
        } catch {
          getSelection().selectAllChildren(block.querySelector("code"));
          button.textContent = "Selected: press Ctrl-C";
        }
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
      });
      block.prepend(button);
    }
  };

  // Partitions beyond the first ones: listed when asked for, drawn when opened.
  const later = [...document.querySelectorAll("script.later")];
  const list = byId("partition-list");
  const more = byId("more");
  const listNext = async () => {
    const chunk = later.shift();
    if (!chunk) return;
    const part = document.createDocumentFragment();
    for (const [severity, summary, body] of JSON.parse(await unpacked(bytesOf(chunk)))) {
      const item = document.createElement("details");
      item.className = "item partition";
      item.dataset.severity = severity;
      item.innerHTML = "<summary>" + summary + "</summary>";
      item.addEventListener("toggle", () => {
        const place = document.createElement("div");
        place.innerHTML = body;
        item.append(place);
        addCopyButtons(place);
      }, { once: true });
      part.append(item);
    }
    list.append(part);
    chunk.remove();
    if (more) more.parentElement.hidden = !later.length;
  };
  // One after another: who filters while a chunk is unpacked waits for its partitions, too.
  let listing = Promise.resolve();
  const listChunk = () => (listing = listing.catch(() => {}).then(listNext));
  if (more) {
    more.hidden = !later.length;
    more.addEventListener("click", async () => { await listChunk(); filter(); });
  }

  // The filter: every word must occur; severities that are not checked are left out.
  const form = byId("filter");
  const words = byId("words");
  const texts = new WeakMap();
  const textOf = (item) => {
    if (!texts.has(item)) texts.set(item, item.textContent.toLowerCase());
    return texts.get(item);
  };
  let filtering = 0;
  const filter = async () => {
    const turn = ++filtering;
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const boxes = [...form.querySelectorAll("input[type=checkbox]")];
    const severities = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const isFiltered = wanted.length > 0 || severities.size < boxes.length;
    await listing;
    if (turn !== filtering) return;
    while (isFiltered && later.length) {
      await listChunk();
      if (turn !== filtering) return;
    }
    let shown = 0;
    const items = document.querySelectorAll("details.item[data-severity]");
    for (const item of items) {
      const fits = severities.has(item.dataset.severity) &&
        wanted.every((word) => textOf(item).includes(word));
      item.classList.toggle("away", !fits);
      shown += fits;
    }
    byId("count").textContent = isFiltered
      ? `${shown.toLocaleString("en")} of ${items.length.toLocaleString("en")} shown` : "";
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", filter);
  form.hidden = false;

  // Keys, unless somebody types.
  const step = (by) => {
    const items = [...document.querySelectorAll("details.item:not(.away) > summary")]
      .filter((each) => each.offsetParent !== null);
    const at = items.indexOf(document.activeElement);
    const next = items[at < 0 ? (by > 0 ? 0 : items.length - 1) : at + by];
    if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }); }
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && (words.value || document.activeElement === words)) {
      words.value = "";
      filter();
      words.blur();
      return;
    }
    if (event.target.closest("input, textarea, select")) return;
    if (event.key === "/") { event.preventDefault(); words.focus(); }
    else if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
  });

  // Printing opens what is listed.
  addEventListener("beforeprint", () => {
    for (const item of document.querySelectorAll("details.item:not(.away)")) item.open = true;
  });

  const save = byId("save-json");
  save.hidden = false;
  save.addEventListener("click", async () => {
    const text = await unpacked(bytesOf(byId("kafkalog-report")));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = "kafkalog-report.json";
    link.click();
    URL.revokeObjectURL(link.href);
  });
  addCopyButtons(document);
  document.documentElement.dataset.ready = "yes";
})();
