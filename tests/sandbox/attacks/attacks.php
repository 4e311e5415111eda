<?php
// The file `attack` has the names of the attacks, then secret, marker, port, pid, mark, processes, MiB.
[$names, $secret, $marker, $port, $pid, $mark, $processes, $mib] = explode("\n", file_get_contents('attack'));

function reads($path) {
    return strlen((string) @file_get_contents($path)) > 0;
}

function writes($path) {
    return @file_put_contents($path, 'x') === 1;
}

function fills($file, $size) {
    $block = str_repeat('x', 1 << 20);
    for ($i = 0; $i < $size; $i++) {
        if (@fwrite($file, $block) !== 1 << 20) {
            return false;
        }
    }
    return true;
}

function attack($name) {
    global $secret, $marker, $port, $pid, $mark, $processes, $mib;
    $places = ["/tmp/$mark", "/dev/shm/$mark", "./$mark"];
    switch ($name) {
        case 'read':
            return reads($secret);
        case 'write':
            return writes($marker);
        case 'link_read':
            return symlink($secret, $name) && reads($name);
        case 'link_write':
            return symlink($marker, $name) && writes($name);
        case 'network':
            return (bool) @stream_socket_client("tcp://127.0.0.1:$port");
        case 'signal':
            exec("bash -c 'kill -0 $pid' 2>/dev/null", $said, $status);
            return $status === 0;
        case 'environment':
            return getenv('GENBENCH_BAIT') !== false;
        case 'proc':
            return reads("/proc/$pid/cmdline");
        case 'descriptors':
            for ($files = []; count($files) < 2000; $files[] = $file) {
                if (($file = @fopen('/dev/null', 'r')) === false) {
                    return false;
                }
            }
            return true;
        case 'leave':
            return count(array_filter($places, 'writes')) > 0;
        case 'left':
            return count(array_filter($places, 'reads')) > 0;
        case 'time':
            return sleep(3) === 0;
        case 'memory':
            for ($kept = []; count($kept) < $mib / 16; $kept[] = str_repeat('x', 16 << 20));
            return true;
        case 'disk':
            for ($i = 0; $i < 6; $i++) {
                if (!fills(fopen("file$i", 'w'), 15)) {
                    return false;
                }
                usleep(100000);
            }
            return true;
        case 'file':
            return fills(fopen('large', 'w'), 20);
        case 'output':
            return fills(STDOUT, 20);
        case 'errors':
            return fills(STDERR, 20);
        case 'processes':
            for ($started = []; count($started) < $processes; $started[] = $one) {
                if (!($one = @proc_open(['sleep', '2'], [], $pipes))) {
                    return false;
                }
            }
            array_map('proc_terminate', $started);
            return true;
        default:
            return exec("sleep $mark > /dev/null 2>&1 & echo started") === 'started';
    }
}

foreach (explode(' ', $names) as $name) {
    fwrite(STDOUT, "\n$name " . (attack($name) ? 'REACHED' : 'held') . "\n");
}
fwrite(STDOUT, "done\n");
