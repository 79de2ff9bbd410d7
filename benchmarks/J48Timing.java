// Builds Weka's J48 in one virtual machine on demand, so that its warm times can be taken in turns with other programs.
//
//     java -XX:+UseSerialGC -cp weka.jar J48Timing.java one.arff other.arff
//
// Each line of the input is "number-of-file options", such as "0 -U" or "1 -C 0.25"; each line of the answer is
// "seconds CPU-seconds nodes leaves" of one build. The class is the last attribute.
import java.io.BufferedReader;
import java.io.FileReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import weka.classifiers.trees.J48;
import weka.core.Instances;
import weka.core.Utils;

public class J48Timing {
    public static void main(String[] files) throws Exception {
        Instances[] data = new Instances[files.length];
        for (int i = 0; i < files.length; i++) {
            try (BufferedReader in = new BufferedReader(new FileReader(files[i]))) { data[i] = new Instances(in); }
            data[i].setClassIndex(data[i].numAttributes() - 1);
        }
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String[] ask = line.trim().split(" ", 2);
            J48 tree = new J48();
            tree.setOptions(Utils.splitOptions(ask.length > 1 ? ask[1] : ""));
            System.gc();                                  // the rubbish of the run before is not this one's
            long wall = System.nanoTime(), cpu = clock.getCurrentThreadCpuTime();
            tree.buildClassifier(data[Integer.parseInt(ask[0])]);
            System.out.printf(java.util.Locale.ROOT, "%.6f %.6f %.0f %.0f%n", (System.nanoTime() - wall)/1e9, (clock.getCurrentThreadCpuTime() - cpu)/1e9,
                tree.measureTreeSize(), tree.measureNumLeaves());
            System.out.flush();
        }
    }
}
