# The file `attack` has the names of the attacks, then secret, marker, port, pid, mark, processes, MiB.
require 'socket'
NAMES, SECRET, MARKER, PORT, PID, MARK, PROCESSES, MIB = File.read('attack').split("\n")
PLACES = ["/tmp/#{MARK}", "/dev/shm/#{MARK}", "./#{MARK}"]

def works
  yield != false
rescue SystemCallError
  false
end

def reads(path) = works { !File.binread(path, 1).nil? }

def writes(path) = works { File.write(path, 'x') }

def fills(file, size)
  works { size.times { file.syswrite('x' * (1 << 20)) } }
end

def attack(name)
  case name
  when 'read' then reads(SECRET)
  when 'write' then writes(MARKER)
  when 'link_read' then works { File.symlink(SECRET, name) } && reads(name)
  when 'link_write' then works { File.symlink(MARKER, name) } && writes(name)
  when 'network' then works { TCPSocket.new('127.0.0.1', PORT.to_i).close }
  when 'signal' then works { Process.kill(0, PID.to_i) }
  when 'environment' then ENV.key?('GENBENCH_BAIT')
  when 'proc' then reads("/proc/#{PID}/cmdline")
  when 'descriptors'
    files = []
    reached = works { 2000.times { files << File.open('/dev/null') } }
    files.each(&:close)
    reached
  when 'leave' then PLACES.count { |place| writes(place) }.positive?
  when 'left' then PLACES.any? { |place| reads(place) }
  when 'time'
    %w[TERM INT HUP ALRM XCPU].each { |number| trap(number, 'IGNORE') }
    sleep 3
  when 'memory' then (MIB.to_i / 16).times.map { 'x' * (16 << 20) }.length.positive?
  when 'shared_out_memory'
    4.times do
      fork do
        part = 'x' * (MIB.to_i << 18)
        sleep 1
        exit!(part.empty? ? 1 : 0)
      end
    end
    Process.waitall.all? { |_, status| status.success? }
  when 'disk'
    6.times.all? { |i| fills(File.open("file#{i}", 'w'), 15) && sleep(0.1) }
  when 'file' then fills(File.open('large', 'w'), 20)
  when 'output' then fills($stdout, 20)
  when 'errors' then fills($stderr, 20)
  when 'processes' then works { PROCESSES.to_i.times { spawn('sleep 2') } }
  when 'background' then works { spawn("sleep #{MARK}") }
  end
end

$stdout.sync = true
NAMES.split.each { |name| puts "\n#{name} #{attack(name) ? 'REACHED' : 'held'}" }
puts 'done'
