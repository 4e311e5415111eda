// The file `attack` has the names of the attacks, then secret, marker, port, pid, mark, processes, MiB.
package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var secret, marker, port, pid, mark string
var processes, mib int

func reads(path string) bool {
	found, err := os.ReadFile(path)
	return err == nil && len(found) > 0
}

func writes(path string) bool { return os.WriteFile(path, []byte("x"), 0600) == nil }

func fills(file *os.File, size int) bool {
	for i := 0; i < size; i++ {
		if _, err := file.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
			return false
		}
	}
	return true
}

func attack(name string) bool {
	switch name {
	case "read":
		return reads(secret)
	case "write":
		return writes(marker)
	case "link_read":
		return os.Symlink(secret, name) == nil && reads(name)
	case "link_write":
		return os.Symlink(marker, name) == nil && writes(name)
	case "network":
		_, err := net.Dial("tcp", "127.0.0.1:"+port)
		return err == nil
	case "signal":
		number, _ := strconv.Atoi(pid)
		return syscall.Kill(number, 0) == nil
	case "environment":
		_, found := os.LookupEnv("GENBENCH_BAIT")
		return found
	case "proc":
		return reads("/proc/" + pid + "/cmdline")
	case "descriptors":
		for i := 0; i < 2000; i++ {
			file, err := os.Open("/dev/null")
			if err != nil {
				return false
			}
			defer file.Close()
		}
	case "leave":
		a, b, c := writes("/tmp/"+mark), writes("/dev/shm/"+mark), writes("./"+mark)
		return a || b || c
	case "left":
		return reads("/tmp/"+mark) || reads("/dev/shm/"+mark) || reads("./"+mark)
	case "time":
		signal.Ignore()
		time.Sleep(3 * time.Second)
	case "memory":
		kept := [][]byte{}
		for i := 0; i < mib; i += 16 {
			kept = append(kept, bytes.Repeat([]byte("x"), 16<<20))
		}
		return len(kept) > 0
	case "disk":
		for i := 0; i < 6; i++ {
			file, err := os.Create("file" + strconv.Itoa(i))
			if err != nil || !fills(file, 15) {
				return false
			}
			time.Sleep(100 * time.Millisecond)
		}
	case "file":
		file, err := os.Create("large")
		return err == nil && fills(file, 20)
	case "output":
		return fills(os.Stdout, 20)
	case "errors":
		return fills(os.Stderr, 20)
	case "processes":
		for i := 0; i < processes; i++ {
			if exec.Command("sleep", "2").Start() != nil {
				return false
			}
		}
	case "background":
		return exec.Command("sleep", mark).Start() == nil
	}
	return true
}

func TestAttacks(t *testing.T) {
	order, _ := os.ReadFile("attack")
	lines := strings.Split(string(order), "\n")
	secret, marker, port, pid, mark = lines[1], lines[2], lines[3], lines[4], lines[5]
	processes, _ = strconv.Atoi(lines[6])
	mib, _ = strconv.Atoi(lines[7])
	for _, name := range strings.Fields(lines[0]) {
		found := "held"
		if attack(name) {
			found = "REACHED"
		}
		fmt.Printf("\n%s %s\n", name, found)
	}
	fmt.Println("done")
}
