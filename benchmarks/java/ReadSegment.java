import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.Locale;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.common.utils.internals.CloseableIterator;

/** Kafka's own reader in one warm JVM: a timed pass over a segment for every line on standard input. */
public final class ReadSegment {
    private static final BufferSupplier BUFFERS = BufferSupplier.create();  // as a consumer reuses them
    private long batches, records, offsets, timestamps, keyBytes, valueBytes, firstBytes;

    private void readRecords(Iterable<? extends RecordBatch> log) {
        for (RecordBatch batch : log) {
            batch.ensureValid();
            batches++;
            try (CloseableIterator<Record> iterator = batch.streamingIterator(BUFFERS)) {
                while (iterator.hasNext()) {
                    Record record = iterator.next();
                    records++;
                    offsets += record.offset();
                    timestamps += record.timestamp();
                    ByteBuffer key = record.key(), value = record.value();
                    if (key != null) keyBytes += key.remaining();
                    if (value != null) {
                        valueBytes += value.remaining();
                        firstBytes += value.get(value.position());
                    }
                }
            }
        }
    }

    private void readBatches(Iterable<? extends RecordBatch> log) {
        for (RecordBatch batch : log) {
            batch.ensureValid();
            batches++;
        }
    }

    /** Arguments: records|batches|batches-in-memory, the segment, seconds to warm up. */
    public static void main(String[] args) throws IOException {
        File file = new File(args[1]);
        ByteBuffer bytes = args[0].equals("batches-in-memory")
            ? ByteBuffer.wrap(Files.readAllBytes(file.toPath())) : null;
        long warm = System.nanoTime() + (long) (Double.parseDouble(args[2]) * 1e9);
        do {
            pass(args[0], file, bytes);
        } while (System.nanoTime() < warm);
        System.out.println("ready");
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in));
        while (requests.readLine() != null) {
            long start = System.nanoTime();
            ReadSegment read = pass(args[0], file, bytes);
            double seconds = (System.nanoTime() - start) / 1e9;
            System.out.printf(Locale.ROOT, "{\"seconds\": %.9f, \"batches\": %d, \"records\": %d, \"offsets\": %d, "
                + "\"timestamps\": %d, \"keyBytes\": %d, \"valueBytes\": %d, \"firstBytes\": %d}%n",
                seconds, read.batches, read.records, read.offsets, read.timestamps, read.keyBytes,
                read.valueBytes, read.firstBytes);
        }
    }

    private static ReadSegment pass(String work, File file, ByteBuffer bytes) throws IOException {
        ReadSegment read = new ReadSegment();
        if (bytes != null) {
            read.readBatches(MemoryRecords.readableRecords(bytes.duplicate()).batches());
            return read;
        }
        try (FileRecords log = FileRecords.open(file, false)) {
            if (work.equals("records")) read.readRecords(log.batches());
            else read.readBatches(log.batches());
        }
        return read;
    }
}
