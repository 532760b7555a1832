"""A PC that Bochs emulates, with a CPU newer than this one, that boots Linux and runs one program as its init.

```
program → initrd ─┐
Debian's kernel ──┴→ CD image → Bochs (BIOS → isolinux → kernel → program) → serial port → a file of this machine
```
QEMU's emulation has no AVX-512; Bochs 3.0 has. The system's Debian may have an older one, so the emulator comes with
its own C library from the release named here.
"""

import os
import pty
import select
import shutil
import signal
import subprocess
import time

import debian_aside as debian

# Of the CPUs that Bochs 3.0 has, the one with AVX-VNNI, AVX-512 and its VNNI.
MODEL = "sapphire_rapids"
RELEASE = "trixie"
PACKAGES = ["bochs", "bochs-term", "vgabios", "isolinux", "syslinux-common", "genisoimage"]
KERNEL = "linux-image-cloud-amd64"

# One CPU, few words on the serial port. Bochs announces AMX and then refuses to switch it on, its ACPI fails in SMM,
# and an HPET (known from ACPI only) costs it most of its speed.
KERNEL_WORDS = (
    "console=ttyS0,115200 quiet nosmp mitigations=off ibt=off idle=halt acpi=off lpj=1000000 tsc=reliable "
    "clearcpuid=amx_tile,amx_int8,amx_bf16 random.trust_cpu=on panic=-1"
)
BOCHSRC = """\
cpu: model={model}, count=1, ips=20000000, reset_on_triple_fault=0, ignore_bad_msrs=1
memory: guest=512, host=512
romimage: file={share}/bochs/BIOS-bochs-latest
vgaromimage: file={share}/vgabios/vgabios.bin
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=cdrom, path={folder}/boot.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev={folder}/serial.txt
display_library: term
clock: sync=none, time0=utc
log: {folder}/bochs.log
panic: action=fatal
error: action=ignore
info: action=ignore
debug: action=ignore
"""
# Lines of the serial port that tell which CPU it was and what the program said. The kernel's begin with "[".
TELLING = ("AVX", "smpboot: CPU0:", "Kernel panic", "Oops")


def fill(scratch, target):
    """Downloads and unpacks the emulator and what it boots."""
    archive = debian.Archive(scratch, ["amd64"], RELEASE)
    (kernel,) = [name for name in archive.dependencies([KERNEL])[KERNEL] if name.startswith("linux-image")]
    print(f"emulated: downloading from Debian's {RELEASE}, about 100 MB: {' '.join(PACKAGES)} with all that they need, {kernel}")
    archive.download_whole(PACKAGES)
    archive.download([kernel])
    archive.unpack(target)


def worth_showing(line):
    return bool(line) and (not line.startswith("[") or any(word in line for word in TELLING))


def native(tools, program):
    """A program of the other release, run with the C library it was made for."""
    libraries = tools / "usr/lib/x86_64-linux-gnu"
    loader = tools / "usr/lib64/ld-linux-x86-64.so.2"
    path = f"{libraries}:{libraries}/pulseaudio"
    return [str(loader), "--library-path", path, str(tools / "usr/bin" / program)]


def cpio(files):
    """An archive of the kind that a kernel unpacks: `newc`, regular files that may be executed."""
    parts = []
    for number, (name, data) in enumerate([*files, ("TRAILER!!!", b"")], start=1):
        name = name.encode() + b"\0"
        fields = (number, 0o100755, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
        for part in (head, data):
            parts.append(part + b"\0" * (-len(part) % 4))
    return b"".join(parts)


def make_image(tools, folder, program, words):
    """`boot.iso` with the kernel and the program, which gets `words`."""
    disk = folder / "disk"
    (disk / "isolinux").mkdir(parents=True)
    (kernel,) = (tools / "boot").glob("vmlinuz-*")
    shutil.copy(kernel, disk / "vmlinuz")
    shutil.copy(tools / "usr/lib/ISOLINUX/isolinux.bin", disk / "isolinux")
    shutil.copy(tools / "usr/lib/syslinux/modules/bios/ldlinux.c32", disk / "isolinux")
    (disk / "initrd").write_bytes(cpio([("init", program.read_bytes())]))
    menu = f"default it\nlabel it\n kernel /vmlinuz\n append initrd=/initrd {KERNEL_WORDS} -- {' '.join(words)}\n"
    (disk / "isolinux/isolinux.cfg").write_text(menu)
    boot = ["-b", "isolinux/isolinux.bin", "-c", "isolinux/boot.cat", "-no-emul-boot", "-boot-load-size", "4"]
    words = ["-quiet", "-o", str(folder / "boot.iso"), *boot, "-boot-info-table", str(disk)]
    subprocess.run(native(tools, "genisoimage") + words, check=True)


def boot(tools, folder, program, words, last_line, limit):
    """Runs a static program on the emulated PC until it says `last_line`, ends, or `limit` seconds are over; all lines
    of the serial port."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make_image(tools, folder, program, words)
    (folder / "bochsrc").write_text(BOCHSRC.format(model=MODEL, share=tools / "usr/share", folder=folder))
    command = native(tools, "bochs-bin") + ["-q", "-f", str(folder / "bochsrc")]
    plugins = tools / "usr/lib/x86_64-linux-gnu/bochs/plugins"
    environment = {**os.environ, "LTDL_LIBRARY_PATH": str(plugins), "TERM": "vt100"}
    # Its screen is a terminal, which nobody looks at.
    child, screen = pty.fork()
    if child == 0:
        os.execve(command[0], command, environment)
    ends, lines = time.monotonic() + limit, []
    while time.monotonic() < ends:
        alive = drained(screen)
        lines = serial(folder)
        # The kernel panics when its init has ended.
        if not alive or was_said(last_line, lines) or any("Kernel panic" in line for line in lines):
            break
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return lines


def was_said(words, lines):
    """Is there a line of the program's? The kernel, which panics when its init has ended, may go on in the same line."""
    return any(line.partition("[")[0] == words for line in lines)


def drained(screen):
    """Throws away what is on the screen, waiting a second for it; False where there will be no more."""
    ready, _, _ = select.select([screen], [], [], 1)
    try:
        return not ready or bool(os.read(screen, 1 << 16))
    except OSError:
        return False


def serial(folder):
    file = folder / "serial.txt"
    return file.read_text(errors="replace").splitlines() if file.exists() else []
