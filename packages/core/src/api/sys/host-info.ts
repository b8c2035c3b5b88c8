import { readFile, statfs } from 'node:fs/promises';
import * as os from 'node:os';
import { Type, type Static } from 'typebox';

const number = Type.Number();
const text = Type.String();

/** A file system on a disk of its own. Sizes in bytes. */
const DiskUsage = Type.Object({
  path: text,
  fstype: text,
  total: number,
  free: number,
  used: number,
  usedPercent: number,
  inodesTotal: number,
  inodesFree: number,
  inodesUsed: number,
  inodesUsedPercent: number,
});
type DiskUsage = Static<typeof DiskUsage>;

/** The machine, written as clients of Vault and OpenBao read it. Times in seconds. */
export const HostInfo = Type.Object({
  cpu: Type.Array(Type.Object({ cpu: number, modelName: text, mhz: number, cores: number })),
  cpu_times: Type.Array(Type.Object({ cpu: text, user: number, system: number, idle: number, nice: number, irq: number })),
  disk: Type.Array(DiskUsage),
  host: Type.Record(Type.String(), Type.Union([text, number])),
  memory: Type.Object({
    ...{ total: number, available: number, used: number, usedPercent: number, free: number },
    ...{ buffers: number, cached: number, swaptotal: number, swapfree: number },
  }),
});
export type HostInfo = Static<typeof HostInfo>;

/** Looks at the machine this process runs on. */
export async function hostInfo(now: Date): Promise<HostInfo> {
  const cpus = os.cpus();
  const total = os.totalmem();
  const { free, available, buffers, cached, swaptotal, swapfree } = await memory();
  const uptime = Math.floor(os.uptime());
  return {
    cpu: cpus.map((cpu, at) => ({ cpu: at, modelName: cpu.model, mhz: cpu.speed, cores: 1 })),
    cpu_times: cpus.map(({ times }, at) => ({
      cpu: `cpu${at}`,
      user: times.user / 1000,
      system: times.sys / 1000,
      idle: times.idle / 1000,
      nice: times.nice / 1000,
      irq: times.irq / 1000,
    })),
    disk: await disks(),
    host: {
      hostname: os.hostname(),
      uptime,
      bootTime: Math.floor(now.getTime() / 1000) - uptime,
      os: os.platform(),
      platform: os.type(),
      platformVersion: os.version(),
      kernelVersion: os.release(),
      kernelArch: os.machine(),
    },
    memory: {
      ...{ total, available, used: total - available, usedPercent: percent(total - available, total) },
      ...{ free, buffers, cached, swaptotal, swapfree },
    },
  };
}

/** Bytes. Where the kernel does not say, only what every system says. */
async function memory(): Promise<Record<'free' | 'available' | 'buffers' | 'cached' | 'swaptotal' | 'swapfree', number>> {
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => '');
  const of = (name: string, otherwise = 0): number => {
    const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1];
    return kilobytes === undefined ? otherwise : Number(kilobytes) * 1_024;
  };
  return {
    free: of('MemFree', os.freemem()),
    available: of('MemAvailable', os.freemem()),
    buffers: of('Buffers'),
    cached: of('Cached'),
    swaptotal: of('SwapTotal'),
    swapfree: of('SwapFree'),
  };
}

async function disks(): Promise<DiskUsage[]> {
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '');
  const found = new Map<string, { path: string; fstype: string }>();
  for (const line of mounts.split('\n')) {
    const [device = '', path = '', fstype = ''] = line.split(' ').map(unescaped);
    if (device.startsWith('/dev/') && !found.has(device)) found.set(device, { path, fstype });
  }
  if (![...found.values()].some(({ path }) => path === '/')) found.set('', { path: '/', fstype: '' });
  const usages = await Promise.all([...found.values()].map(({ path, fstype }) => usage(path, fstype).catch(() => undefined)));
  return usages.filter((known) => known !== undefined);
}

async function usage(path: string, fstype: string): Promise<DiskUsage> {
  const { bsize, blocks, bavail, bfree, files, ffree } = await statfs(path);
  const used = (blocks - bfree) * bsize;
  const free = bavail * bsize;
  return {
    path,
    fstype,
    total: blocks * bsize,
    free,
    used,
    usedPercent: percent(used, used + free),
    inodesTotal: files,
    inodesFree: ffree,
    inodesUsed: files - ffree,
    inodesUsedPercent: percent(files - ffree, files),
  };
}

/** The mount table writes blanks as octal. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : (part / whole) * 100;
}
