import { hash, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { installationOf } from '../../store/log/checkpoint.ts';
import { openNote } from '../../store/log/signed-note.ts';
import { isStreamName } from '../../store/new-entry.ts';
import { printableJson } from '../../text.ts';
import type { BundleFiles } from './tar.ts';

const MANIFEST = 'manifest.json';
const MANIFEST_NOTE = 'manifest.note';

/** Bytes: room for every file that is unpacked at all. */
const LARGEST = 4 * 1024 * 1024;

const Digest = z.string().regex(/^[0-9a-f]{64}$/u);

/** What a bundle is made of. Its own two files are not in its list. */
export const Manifest = z.strictObject({
  format: z.literal('lifeboat.bundle/1'),
  run: z.string().refine((run) => isStreamName(`run/${run}`)),
  /** The last entry of the run that the bundle holds. */
  head: z.strictObject({ seq: z.int().positive(), hash: Digest }),
  anchor: z.string(),
  /** RFC 3339. */
  madeAt: z.string(),
  madeBy: z.string(),
  /** By stream, the last entry that a head in `checkpoints/` has seen, which was signed before this was made. */
  signedTo: z.record(z.string(), z.int().nonnegative()).optional(),
  /** The installations whose keys are in lifeboat.pub, that of the signer first. */
  keys: z.array(z.string()).optional(),
  files: z.array(z.strictObject({ name: z.string(), bytes: z.int().nonnegative(), sha256: Digest })),
});
export type Manifest = z.infer<typeof Manifest>;

/** Signs lines under a subject of this installation; see `Signer.note`. */
type SignNote = (subject: string, lines: readonly string[]) => string;

/** Adds the list of the files, and the note that signs it:  the list's size in bytes and its SHA-256 in base64. */
export function withManifest(
  files: BundleFiles,
  about: Omit<Manifest, 'format' | 'files'>,
  sign: SignNote,
): BundleFiles {
  const list = [...files].map(([name, bytes]) => ({
    name,
    bytes: bytes.length,
    sha256: hash('sha256', bytes, 'hex'),
  }));
  const sorted = list.sort((a, b) => (a.name < b.name ? -1 : 1));
  const manifest = spelled({ format: 'lifeboat.bundle/1', ...about, files: sorted });
  const note = sign(`bundle/${about.run}`, signedLines(manifest));
  return new Map([...files, [MANIFEST, manifest], [MANIFEST_NOTE, Buffer.from(note)]]);
}

export type OpenedManifest =
  | { readonly result: 'signed' | 'unknown-key' | 'bad-signature'; readonly manifest: Manifest }
  | { readonly result: 'unreadable' };

/** The manifest of a bundle, and whether one of the keys has signed it. Never throws on any content. */
export function openManifest(files: BundleFiles, keys: readonly KeyObject[]): OpenedManifest {
  const bytes = files.get(MANIFEST);
  const isSmall = bytes !== undefined && bytes.length <= LARGEST;
  const manifest = isSmall ? readManifest(bytes) : undefined;
  if (bytes === undefined || manifest === undefined) return { result: 'unreadable' };
  const opened = openNote(files.get(MANIFEST_NOTE)?.toString('utf8') ?? '', keys);
  if (opened.result === 'unknown-key') return { result: 'unknown-key', manifest };
  if (opened.result !== 'signed') return { result: 'bad-signature', manifest };
  const origin = `lifeboat/${installationOf(opened.key)}/bundle/${manifest.run}`;
  const isOurs = opened.name === origin && opened.text === `${[origin, ...signedLines(bytes)].join('\n')}\n`;
  return { result: isOurs ? 'signed' : 'bad-signature', manifest };
}

/** Whether a file is one of the manifest's own two. */
export function isManifest(name: string): boolean {
  return name === MANIFEST || name === MANIFEST_NOTE;
}

function readManifest(bytes: Buffer): Manifest | undefined {
  try {
    const manifest = Manifest.parse(JSON.parse(bytes.toString('utf8')));
    return spelled(manifest).equals(bytes) ? manifest : undefined;
  } catch {
    return undefined;
  }
}

/** One file a line, so that people can read it too. */
function spelled({ files, ...about }: Manifest): Buffer {
  const lines = files.map((file) => `  ${printableJson(file)}`).join(',\n');
  return Buffer.from(`${printableJson(about).slice(0, -1)},"files":[\n${lines}\n]}\n`);
}

function signedLines(manifest: Buffer): string[] {
  return [String(manifest.length), hash('sha256', manifest, 'base64')];
}
