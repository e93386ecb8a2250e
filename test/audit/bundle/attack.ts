import { hash } from 'node:crypto';
import type { Signer } from '../../../src/store/log/signer.ts';
import { RUN } from './scene.ts';

/** What the forger has: everything, and in some attacks even the signing key. */
export interface Tools {
  readonly forger: Signer;
  /** The installation's own key, for whoever has stolen it or always had it. */
  readonly insider: Signer;
  /** The files of another run's bundle of the same home. */
  readonly other: ReadonlyMap<string, Buffer>;
  /** The home as it was in the middle of the run. */
  readonly yesterday: string;
}

export interface Attack {
  readonly title: string;
  /** What betrays it: nothing but what lies there, the public key from elsewhere, or the anchor from elsewhere. */
  readonly foundBy: readonly ('itself' | 'key' | 'anchor')[];
  readonly home?: (home: string, tools: Tools) => void | Promise<void>;
  readonly bundle?: (files: Map<string, Buffer>, tools: Tools) => void;
}

/** One character of a file, such as a digit of a figure. */
export function editFile(files: Map<string, Buffer>, name: string): void {
  const bytes = Buffer.from(files.get(name) ?? '');
  const place = Math.floor(bytes.length / 2);
  bytes[place] = bytes[place] === 0x31 ? 0x32 : 0x31;
  files.set(name, bytes);
}

/** Makes the list of files fit again; only the note over it cannot be made without the key. */
export function listAnew(files: Map<string, Buffer>, signer?: Signer): void {
  const { files: _, ...about } = JSON.parse(String(files.get('manifest.json'))) as Record<string, unknown>;
  const lines = String(files.get('journal.jsonl') ?? '')
    .trimEnd()
    .split('\n');
  const { head } = JSON.parse(lines.at(-1) || '{}') as { head?: { seq: number; hash: string } };
  const listed = [...files]
    .filter(([name]) => !name.startsWith('manifest.'))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, bytes]) =>
        `  ${JSON.stringify({ name, bytes: bytes.length, sha256: hash('sha256', bytes, 'hex') })}`,
    );
  const fitting = JSON.stringify({ ...about, head: { seq: head?.seq, hash: head?.hash } });
  const manifest = Buffer.from(`${fitting.slice(0, -1)},"files":[\n${listed.join(',\n')}\n]}\n`);
  files.set('manifest.json', manifest);
  const lines2 = [String(manifest.length), hash('sha256', manifest, 'base64')];
  if (signer !== undefined) files.set('manifest.note', Buffer.from(signer.note(`bundle/${RUN}`, lines2)));
}
