import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.RecordBatch;

/** Writes the segments of one partition with Kafka's own builder: the same bytes for the same arguments. */
public final class WriteSegments {
    private static final long FIRST_TIMESTAMP = 1_760_000_000_000L;
    private static final int VALUE_BYTES = 100;
    private static final long PRODUCER_ID = 1000;  // a 4.x producer is idempotent unless told otherwise
    private final Random random = new Random(20260101);
    private final byte[][] phrases = new byte[512][];
    private final byte[] value = new byte[VALUE_BYTES];

    /** Arguments: partition directory, codec, records a batch, segments, records a segment, key bytes (0: null). */
    public static void main(String[] args) throws IOException {
        new WriteSegments().write(Path.of(args[0]), Compression.of(args[1]).build(), Integer.parseInt(args[2]),
            Integer.parseInt(args[3]), Integer.parseInt(args[4]), Integer.parseInt(args[5]));
    }

    private void write(Path partition, Compression codec, int perBatch, int segments, int perSegment, int keyBytes)
            throws IOException {
        for (int i = 0; i < phrases.length; i++) phrases[i] = phrase();
        Files.createDirectories(partition);
        ByteBuffer buffer = ByteBuffer.allocate(64 * 1024);
        byte[] key = keyBytes == 0 ? null : new byte[keyBytes];
        long offset = 0;
        for (int segment = 0; segment < segments; segment++) {
            Path log = partition.resolve(String.format("%020d.log", offset));
            try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(log), 1 << 20)) {
                for (long end = offset + perSegment; offset < end; ) {
                    buffer.clear();
                    MemoryRecordsBuilder batch = MemoryRecords.builder(buffer, RecordBatch.MAGIC_VALUE_V2, codec,
                        TimestampType.CREATE_TIME, offset, RecordBatch.NO_TIMESTAMP, PRODUCER_ID, (short) 0,
                        (int) (offset & Integer.MAX_VALUE), false, 0);
                    for (int i = 0; i < perBatch && offset < end; i++, offset++) {
                        if (key != null) random.nextBytes(key);
                        batch.appendWithOffset(offset, FIRST_TIMESTAMP + offset / 16, key, nextValue());
                    }
                    ByteBuffer bytes = batch.build().buffer();
                    out.write(bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining());
                }
            }
        }
    }

    /** A log line: a request id, a number, then phrases of which few are frequent and most are rare. */
    private byte[] nextValue() {
        String head = String.format("%08x %5d ms ", random.nextInt(), (int) (random.nextDouble() * 30_000));
        byte[] start = head.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(start, 0, value, 0, start.length);
        int position = start.length;
        while (position < VALUE_BYTES) {
            byte[] phrase = phrases[(int) (phrases.length * Math.pow(random.nextDouble(), 3))];
            int length = Math.min(phrase.length, VALUE_BYTES - position);
            System.arraycopy(phrase, 0, value, position, length);
            position += length;
        }
        return value;
    }

    private byte[] phrase() {
        StringBuilder phrase = new StringBuilder();
        for (int syllables = 6 + random.nextInt(18); syllables > 0; syllables--) {
            phrase.append("bcdfghklmnprstvw".charAt(random.nextInt(16))).append("aeiou".charAt(random.nextInt(5)));
            if (random.nextInt(3) == 0) phrase.append(' ');
        }
        return phrase.append(' ').toString().getBytes(StandardCharsets.US_ASCII);
    }
}
