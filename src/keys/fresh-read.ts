import { spawn } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type * as KeytarModule from 'keytar';
import * as z from 'zod';
import { ownProgram } from '../base/own-program.ts';

/** The hidden command of a process that reads one item and exits. */
const READ_ITEM = 'keychain-item';

const Wanted = z.strictObject({ service: z.string(), account: z.string(), salt: z.string() });

/** What a keychain and Node need from the environment; everything else, such as tokens, is withheld. */
const PASSED =
  /^(?:HOME|USER|LOGNAME|USERNAME|USERPROFILE|APPDATA|LOCALAPPDATA|SystemRoot|PATH|TMPDIR|TEMP|TMP|LANG|LC_.*|LD_LIBRARY_PATH|DBUS_.*|XDG_.*|GNOME_KEYRING_.*|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|LIFEBOAT_HOME)$/iu;

/**
 * Whether a process that never saw `line` finds it in the keychain. Its library has its own connection, so a
 * value that only this process's library or session remembers does not count as stored. No secret passes
 * between the two processes, only a salted digest. Rejects if there is no answer: aborted, or the process's
 * last output.
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
  // The exit of the process reports that it is gone.
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify({ ...item, salt }));
  const [code, digest, said] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new Error(said.trim() || `the process that read it ended with ${String(code)}`);
  return digest.trim() === digestOf(line, salt);
}

/**
 * The child's side: reads the item requested on stdin, and prints its digest, or nothing if there is none.
 */
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
