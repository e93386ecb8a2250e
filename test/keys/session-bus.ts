import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A private D-Bus session, alive until it is closed or this process dies. */
export interface SessionBus {
  /** The environment of a process in the session. */
  readonly env: NodeJS.ProcessEnv;
  close(): Promise<void>;
}

/**
 * Starts a separate bus. With `password` it starts a gnome-keyring daemon with that password: the first one
 * creates the login keyring in `folder`, a wrong one later leaves it locked. Without, the bus starts the
 * daemon on demand, without a keyring; with `activation: false` the bus starts nothing.
 */
export async function startSessionBus(
  folder: string,
  options: { readonly password?: string; readonly activation?: boolean } = {},
): Promise<SessionBus> {
  const env = await sessionEnvironment(folder);
  const config = options.activation === false ? ['--config-file', await writeBareConfig(folder)] : [];
  const unlock = 'printf %s "$1" | gnome-keyring-daemon --unlock --components=secrets >/dev/null;';
  // The session lives as long as its first process, which waits for the end of its input.
  const script = `${options.password === undefined ? '' : unlock} echo "$DBUS_SESSION_BUS_ADDRESS"; exec cat`;
  const command = [...config, '--', 'sh', '-c', script, 'sh', options.password ?? ''];
  const session = spawn('dbus-run-session', command, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(session, 'exit');
  const address = await createInterface({ input: session.stdout })[Symbol.asyncIterator]().next();
  if (address.done) throw new Error('dbus-run-session gave no address');
  return {
    env: { ...env, DBUS_SESSION_BUS_ADDRESS: address.value },
    close: async () => {
      session.stdin.end();
      await ended;
    },
  };
}

/** Keeps the default keyring of a session in `folder` without a password, as a desktop without one does. */
export async function makePlainKeyring(folder: string): Promise<string> {
  const keyrings = join(folder, 'data', 'keyrings');
  await mkdir(keyrings, { recursive: true, mode: 0o700 });
  const file = join(keyrings, 'Default_keyring.keyring');
  const head = 'display-name=Default keyring\nctime=0\nmtime=0\nlock-on-idle=false\nlock-after=false\n';
  await writeFile(join(keyrings, 'default'), 'Default_keyring', { mode: 0o600 });
  await writeFile(file, `[keyring]\n${head}`, { mode: 0o600 });
  return file;
}

/** The environment of a session without a bus: nothing of this machine's own session leaks in. */
export async function sessionEnvironment(folder: string): Promise<NodeJS.ProcessEnv> {
  const runtime = join(folder, 'runtime');
  await mkdir(runtime, { recursive: true, mode: 0o700 });
  const { DBUS_SESSION_BUS_ADDRESS: _bus, DISPLAY: _x, WAYLAND_DISPLAY: _wayland, ...rest } = process.env;
  return { ...rest, HOME: folder, XDG_DATA_HOME: join(folder, 'data'), XDG_RUNTIME_DIR: runtime };
}

async function writeBareConfig(folder: string): Promise<string> {
  const path = join(folder, 'bare-bus.conf');
  await writeFile(
    path,
    `<busconfig><type>session</type><listen>unix:tmpdir=${tmpdir()}</listen><auth>EXTERNAL</auth>
     <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`,
  );
  return path;
}

export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'lifeboat-keys-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
