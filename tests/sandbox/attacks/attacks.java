// The file `attack` has the names of the attacks, then secret, marker, port, pid, mark, processes, MiB.
import java.io.*;
import java.net.*;
import java.nio.file.*;
import java.util.*;

class GenbenchMain {
    interface Work {
        boolean run() throws Exception;
    }

    static String secret, marker, port, pid, mark;
    static int processes, mib;

    static boolean works(Work work) {
        try {
            return work.run();
        } catch (Exception error) {
            return false;
        }
    }

    static boolean reads(String path) {
        return works(() -> new FileInputStream(path).read() >= 0);
    }

    static boolean writes(String path) {
        return works(() -> Files.write(Path.of(path), new byte[] {1}) != null);
    }

    static boolean fills(OutputStream out, int size) {
        byte[] block = new byte[1 << 20];
        Arrays.fill(block, (byte) 'x');
        return works(() -> {
            for (int i = 0; i < size; i++) out.write(block);
            return true;
        });
    }

    static boolean starts(String... words) {
        return works(() -> new ProcessBuilder(words).inheritIO().start().pid() > 0);
    }

    static boolean attack(String name) throws Exception {
        String[] places = {"/tmp/" + mark, "/dev/shm/" + mark, "./" + mark};
        switch (name) {
            case "read":
                return reads(secret);
            case "write":
                return writes(marker);
            case "link_read":
                return works(() -> Files.createSymbolicLink(Path.of(name), Path.of(secret)) != null) && reads(name);
            case "link_write":
                return works(() -> Files.createSymbolicLink(Path.of(name), Path.of(marker)) != null) && writes(name);
            case "network":
                return works(() -> new Socket("127.0.0.1", Integer.parseInt(port)).isConnected());
            case "signal":
                return works(() -> new ProcessBuilder("bash", "-c", "kill -0 " + pid).start().waitFor() == 0);
            case "environment":
                return System.getenv("GENBENCH_BAIT") != null;
            case "proc":
                return reads("/proc/" + pid + "/cmdline");
            case "descriptors":
                List<InputStream> files = new ArrayList<>();
                boolean reached = works(() -> {
                    while (files.size() < 2000) files.add(new FileInputStream("/dev/null"));
                    return true;
                });
                for (InputStream file : files) file.close();
                return reached;
            case "leave":
                return writes(places[0]) | writes(places[1]) | writes(places[2]);
            case "left":
                return reads(places[0]) || reads(places[1]) || reads(places[2]);
            case "time":
                Thread.sleep(3000);
                return true;
            case "memory":
                List<byte[]> kept = new ArrayList<>();
                for (int i = 0; i < mib; i += 16) kept.add(new byte[16 << 20]);
                return true;
            case "disk":
                for (int i = 0; i < 6; i++) {
                    if (!fills(new FileOutputStream("file" + i), 15)) return false;
                    Thread.sleep(100);
                }
                return true;
            case "file":
                return fills(new FileOutputStream("large"), 20);
            case "output":
                return fills(new FileOutputStream(FileDescriptor.out), 20);
            case "errors":
                return fills(new FileOutputStream(FileDescriptor.err), 20);
            case "processes":
                for (int i = 0; i < processes; i++) if (!starts("sleep", "2")) return false;
                return true;
            default:
                return starts("sleep", mark);
        }
    }

    public static void main(String[] args) throws Exception {
        List<String> order = Files.readAllLines(Path.of("attack"));
        secret = order.get(1);
        marker = order.get(2);
        port = order.get(3);
        pid = order.get(4);
        mark = order.get(5);
        processes = Integer.parseInt(order.get(6));
        mib = Integer.parseInt(order.get(7));
        for (String name : order.get(0).split(" ")) {
            System.out.println("\n" + name + (attack(name) ? " REACHED" : " held"));
        }
        System.out.println("done");
        System.exit(0);
    }
}
