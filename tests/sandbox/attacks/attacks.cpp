// The file `attack` has the names of the attacks, then secret, marker, port, pid, mark, processes, MiB.
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>
using namespace std;

string names, secret, marker, mark;
int port, pid, processes, mib;

bool reads(const string& path) { return ifstream(path).get() != EOF; }
bool writes(const string& path) {
    ofstream out(path);
    return out.good() && (out << "x").flush().good();
}
bool fills(int file, int size) {
    string block(1 << 20, 'x');
    for (int i = 0; i < size; i++)
        if (write(file, block.data(), block.size()) < (ssize_t)block.size()) return false;
    return true;
}

bool attack(const string& name) {
    if (name == "read") return reads(secret);
    if (name == "write") return writes(marker);
    if (name == "link_read") return symlink(secret.c_str(), "link_read") == 0 && reads("link_read");
    if (name == "link_write") return symlink(marker.c_str(), "link_write") == 0 && writes("link_write");
    if (name == "network") {
        int end = socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in to{AF_INET, htons(port), {htonl(INADDR_LOOPBACK)}, {}};
        return end >= 0 && connect(end, (sockaddr*)&to, sizeof to) == 0;
    }
    if (name == "signal") return kill(pid, 0) == 0;
    if (name == "environment") return getenv("GENBENCH_BAIT") != nullptr;
    if (name == "proc") return reads("/proc/" + to_string(pid) + "/cmdline");
    if (name == "descriptors") {
        vector<int> files;
        while (files.size() < 2000 && (files.empty() || files.back() >= 0))
            files.push_back(open("/dev/null", O_RDONLY));
        for (int file : files) close(file);
        return files.back() >= 0;
    }
    if (name == "leave") return writes("/tmp/" + mark) | writes("/dev/shm/" + mark) | writes("./" + mark);
    if (name == "left") return reads("/tmp/" + mark) || reads("/dev/shm/" + mark) || reads("./" + mark);
    if (name == "time") {
        for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
        sleep(3);
    }
    if (name == "memory") {
        vector<vector<char>> kept;
        for (int i = 0; i < mib; i += 16) kept.emplace_back(16 << 20, 'x');
    }
    if (name == "shared_out_memory") {
        for (int child = 0; child < 4; child++)
            if (fork() == 0) {
                vector<char> part(size_t(mib) << 18, 'x');
                sleep(1);
                _exit(0);
            }
        while (wait(nullptr) > 0) {}
    }
    if (name == "unmapped_memory" || name == "childs_memory")  // no process has the pages, and they stay
        for (int i = 0; i < mib; i += 64) {
            int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE;
            void* part = mmap(nullptr, 64 << 20, PROT_READ | PROT_WRITE, flags, -1, 0);
            if (part == MAP_FAILED) return false;
            if (name == "childs_memory" && fork() == 0) memset(part, 'x', 64 << 20), _exit(0);
            if (name == "childs_memory") wait(nullptr);
            else memset(part, 'x', 64 << 20), madvise(part, 64 << 20, MADV_DONTNEED);
        }
    if (name == "disk")
        for (int i = 0; i < 6; i++) {
            if (!fills(open(("file" + to_string(i)).c_str(), O_CREAT | O_WRONLY, 0600), 15)) return false;
            usleep(100000);
        }
    if (name == "file") return fills(open("large", O_CREAT | O_WRONLY, 0600), 20);
    if (name == "output") return fills(1, 20) && write(1, "\n", 1) == 1;
    if (name == "errors") return fills(2, 20);
    if (name == "processes")
        for (int i = 0; i < processes; i++) {
            pid_t child = fork();
            if (child < 0) return false;
            if (child == 0) sleep(2), _exit(0);
        }
    if (name == "background" && fork() == 0) {
        execlp("sleep", "sleep", mark.c_str(), (char*)nullptr);
    }
    return true;
}

int main() {
    ifstream order("attack");
    getline(order, names);
    order >> secret >> marker >> port >> pid >> mark >> processes >> mib;
    istringstream each(names);
    for (string name; each >> name;) printf("%s %s\n", name.c_str(), attack(name) ? "REACHED" : "held"), fflush(stdout);
    puts("done");
}
