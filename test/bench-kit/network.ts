import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import process from 'node:process';
import { until } from './until.ts';

/** Hosts, each in a network namespace of its own, with one router between them. Linux, and root. */
export interface Network {
  /** What the other hosts reach a host by. */
  address(host: string): string;
  /** The words before a program that runs on a host. It ends with this process. */
  on(host: string): readonly string[];
  /** From now on the router drops what one host sends to the other, and says so to neither. */
  cut(from: string, to: string): void;
  heal(from: string, to: string): void;
  /** Ends it, with all that still runs on its hosts. */
  close(): void;
}

/** The words before a program that has no network. */
const ALONE = ['unshare', '--net', '--'] as const;

/** Those of one that is killed when this process ends, however that happens. */
const BOUND = ['setpriv', '--pdeathsig', 'KILL', '--'] as const;

const LOOPBACK = '127.0.0.1';

/**
 * Begins this program again, with `--alone`, in a network of its own. Resolves with its exit code; 2 where
 * the machine lets nobody make networks.
 */
export async function againAlone(): Promise<number> {
  if (!canMakeNetworks()) {
    process.stderr.write('this machine lets nobody make network namespaces, or has no ip(8)\n');
    return 2;
  }
  const [program, ...words] = [...ALONE, process.execPath, ...process.argv.slice(1), '--alone'];
  const child = spawn(program ?? '', words, { stdio: 'inherit' });
  // Ctrl-C reaches both: the other one cleans up first.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, 'close')) as [number | null];
  return code ?? 1;
}

/** Whether this machine lets this process make network namespaces and put links between them. */
export function canMakeNetworks(): boolean {
  const script =
    'ip link add probe type veth peer name other && ip rule add pref 1 from 10.0.0.1 to 10.0.0.2 blackhole';
  try {
    execFileSync(ALONE[0], [...ALONE.slice(1), ...BOUND, '/bin/sh', '-c', script], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Links hosts. `here` is the namespace of this process, which was begun with `ALONE`, so it names no network
 * of the machine. 127.0.0.1 is that of `loopback`, from wherever it is asked for: a service that only listens
 * there is reached over the router like any other. Everything goes with this process, also when it is killed:
 * a namespace lasts as long as the processes in it.
 */
export async function openNetwork(
  here: string,
  loopback: string,
  others: readonly string[],
): Promise<Network> {
  const keepers: ChildProcess[] = [];
  const close = () => {
    for (const keeper of keepers) keeper.kill('SIGKILL');
  };
  const begin = async (): Promise<number> => {
    const [program, ...words] = [...ALONE, ...BOUND, 'sleep', 'infinity'];
    const keeper = spawn(program ?? '', words, { stdio: 'ignore' });
    keepers.push(keeper);
    const { pid = 0 } = keeper;
    await until(() => keeper.exitCode !== null || namespaceOf(pid) !== namespaceOf(process.pid));
    if (keeper.exitCode !== null) throw new Error('no network namespace can be made');
    return pid;
  };
  try {
    const router = await begin();
    const hosts = new Map<string, { readonly pid: number; readonly ip: string; readonly gate: string }>();
    for (const [at, name] of [here, loopback, ...others].entries()) {
      const pid = name === here ? process.pid : await begin();
      hosts.set(name, { pid, ip: `10.77.${at}.2`, gate: `10.77.${at}.1` });
    }
    const hostOf = (name: string) => {
      const host = hosts.get(name);
      if (host === undefined) throw new Error(`there is no host ${name}`);
      return host;
    };
    const address = (name: string) => (name === loopback ? LOOPBACK : hostOf(name).ip);
    allow(router, 'ip_forward', 'conf/all/route_localnet');
    for (const [name, { pid, ip, gate }] of hosts) {
      const link = `to-${name}`.slice(0, 15);
      ip4(router, `link add ${link} type veth peer name eth0 netns ${pid}`);
      ip4(router, `addr add ${gate}/30 dev ${link}`, `link set ${link} up`);
      ip4(pid, `addr add ${ip}/30 dev eth0`, 'link set eth0 up', `route add default via ${gate}`);
      allow(pid, 'conf/all/route_localnet');
      if (name === loopback) ip4(pid, 'link set lo up');
      else ip4(pid, `route add ${LOOPBACK} via ${gate}`);
    }
    ip4(router, `route add ${LOOPBACK} via ${hostOf(loopback).ip}`);
    const rule = (what: 'add' | 'del', from: string, to: string) =>
      ip4(router, `rule ${what} pref 1 from ${address(from)} to ${address(to)} blackhole`);
    return {
      address,
      on: (host) => [...entering(hostOf(host).pid), ...BOUND],
      cut: (from, to) => rule('add', from, to),
      heal: (from, to) => rule('del', from, to),
      close,
    };
  } catch (thrown) {
    close();
    throw thrown;
  }
}

function namespaceOf(pid: number): string {
  return readlinkSync(`/proc/${pid}/ns/net`);
}

function entering(pid: number): string[] {
  return ['nsenter', `--net=/proc/${pid}/ns/net`, '--'];
}

/** Has ip(8) do these commands in the namespace of a process. */
function ip4(pid: number, ...commands: readonly string[]): void {
  run(pid, ['ip', '-batch', '-'], `${commands.join('\n')}\n`);
}

/** Switches settings of IPv4 on, in the namespace of a process. */
function allow(pid: number, ...settings: readonly string[]): void {
  const script = settings.map((name) => `echo 1 > /proc/sys/net/ipv4/${name}`).join(' && ');
  run(pid, ['/bin/sh', '-c', script]);
}

function run(pid: number, command: readonly string[], input = ''): void {
  const [program = '', ...words] = [...entering(pid), ...command];
  execFileSync(program, words, { input, stdio: ['pipe', 'ignore', 'pipe'] });
}
