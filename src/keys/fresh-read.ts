import { spawn } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type * as KeytarModule from 'keytar';
import * as z from 'zod';
import { ownProgram } from '../base/own-program.ts';

/** The hidden command of a process that reads one item and ends. */
const READ_ITEM = 'keychain-item';

const Wanted = z.strictObject({ service: z.string(), account: z.string(), salt: z.string() });

/** What a keychain and Node find their way by; tokens, among the rest, stay here. */
const PASSED =
  /^(?:HOME|USER|LOGNAME|USERNAME|USERPROFILE|APPDATA|LOCALAPPDATA|SystemRoot|PATH|TMPDIR|TEMP|TMP|LANG|LC_.*|LD_LIBRARY_PATH|DBUS_.*|XDG_.*|GNOME_KEYRING_.*|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|LIFEBOAT_HOME)$/iu;

/**
 * Whether a process that never saw `line` finds it in the keychain. Its library has a connection of its own:
 * a value that this process's library or its session remembers is none that was kept. No secret passes
 * between the two, only a digest with a salt. Rejects when there is no answer: aborted, or what the process
 * said last.
 */
export async function isReadAnew(
  item: { readonly service: string; readonly account: string },
  line: string,
  signal: AbortSignal,
): Promise<boolean> {
  const salt = randomBytes(16).toString('hex');
  const [program = process.execPath, ...words] = ownProgram();
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED.test(name)));
  const child = spawn(program, [...words, READ_ITEM], {
    env,
    signal,
    killSignal: 'SIGKILL',
    windowsHide: true,
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  // A process that is gone already says so by its end.
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify({ ...item, salt }));
  const [code, digest, said] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new Error(said.trim() || `the process that read it ended with ${String(code)}`);
  return digest.trim() === digestOf(line, salt);
}

/** The other side: reads the item that is asked for on stdin, and prints its digest, or nothing for none. */
export async function readItemForParent(
  input: NodeJS.ReadableStream,
  output: { write(text: string): unknown },
  keytar: Pick<typeof KeytarModule, 'getPassword'>,
): Promise<void> {
  const { service, account, salt } = Wanted.parse(JSON.parse(await text(input)));
  const line = await keytar.getPassword(service, account);
  output.write(line === null ? '' : digestOf(line, salt));
}

function digestOf(line: string, salt: string): string {
  return hash('sha256', `${salt}\n${line}`, 'hex');
}
