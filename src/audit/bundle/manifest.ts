import { hash, type KeyObject } from 'node:crypto';
import { show } from '../../base/text.ts';
import { MAX_NOTE_BYTES, openNote, textOf } from '../../store/log/signed-note.ts';
import type { Signer } from '../../store/log/signer.ts';
import { isStreamName } from '../../store/new-entry.ts';
import type { Findings } from '../verdict.ts';
import type { BundleFiles } from './pack.ts';

/*
 * SHA256SUMS lists every file of a bundle except itself and the note that signs it (signed-note.ts), whose
 * text is
 *
 *     lifeboat.bundle/1
 *     run <id>
 *     made <RFC 3339> by <name and version of the program>
 *     SHA256SUMS <64 hex digits>
 *
 * and whose key is named `lifeboat-bundle/<id>`, which is not the origin of a log.
 */

const SUMS = 'SHA256SUMS';
const NOTE = 'manifest.note';
const FORMAT = 'lifeboat.bundle/1';
const LINE = /^([0-9a-f]{64}) {2}(\S.*)$/u;

/** The run of a bundle, and who made it when. */
export interface About {
  readonly run: string;
  readonly madeAt: Date;
  readonly madeBy: string;
}

export function withManifest(files: BundleFiles, about: About, signer: Pick<Signer, 'note'>): BundleFiles {
  const names = [...files.keys()].sort();
  const sums = names.map((name) => `${sha256(files.get(name))}  ${name}\n`).join('');
  const { run, madeAt, madeBy } = about;
  const made = `made ${madeAt.toISOString()} by ${madeBy}`;
  const text = `${[FORMAT, `run ${run}`, made, `${SUMS} ${sha256(sums)}`].join('\n')}\n`;
  const note = signer.note(text, keyName(run));
  return new Map([...files, [SUMS, Buffer.from(sums)], [NOTE, Buffer.from(note)]]);
}

/** The run that a bundle claims; undefined if the manifest is unreadable. Verifies nothing. */
export function runOf(files: BundleFiles): string | undefined {
  const lines = textOf(noteIn(files, NOTE))?.split('\n') ?? [];
  const run = lines[1]?.replace(/^run /u, '') ?? '';
  return lines[0] === FORMAT && lines.length === 5 && isStreamName(`run/${run}`) ? run : undefined;
}

/** Whether one of the keys signed the list, and the files are exactly the listed ones. */
export function checkManifest(
  files: BundleFiles,
  run: string,
  keys: readonly KeyObject[],
  findings: Findings,
): void {
  const opened = openNote(noteIn(files, NOTE), keyName(run), keys);
  if (opened.result === 'unknown-key')
    findings.problem('manifest.unknown-key', 'the manifest is signed by a key that this audit does not know');
  else if (opened.result !== 'signed')
    findings.problem('manifest.bad-signature', 'the manifest was changed: its signature does not match');
  else if (opened.text.split('\n')[3] !== `${SUMS} ${sha256(files.get(SUMS))}`)
    findings.problem('manifest.changed', `${SUMS} is not the one that was signed`);
  const listed = new Map<string, string>();
  for (const line of linesOf(files.get(SUMS))) {
    const [, sum = '', name = ''] = LINE.exec(line) ?? [];
    if (name === '' || listed.has(name))
      findings.problem('manifest.unreadable', `${SUMS} cannot be read as a list of files`);
    listed.set(name, sum);
  }
  for (const [name, sum] of listed) {
    const file = files.get(name);
    if (file === undefined) findings.problem('file.missing', `${show(name, 120)} is missing`);
    else if (sha256(file) !== sum) findings.problem('file.changed', `${show(name, 120)} was changed`);
  }
  for (const name of files.keys())
    if (!listed.has(name) && name !== SUMS && name !== NOTE)
      findings.problem('file.extra', `${show(name, 120)} does not belong here`);
}

/** A note of the bundle; one that is too long is cut, which makes it invalid. */
export function noteIn(files: BundleFiles, name: string): string {
  return files.get(name)?.toString('utf8', 0, MAX_NOTE_BYTES + 1) ?? '';
}

/** Bytes: room for every file that may be unpacked. */
const LARGEST_LIST = 4 * 1024 * 1024;

function linesOf(bytes: Buffer | undefined): readonly string[] {
  return bytes?.toString('utf8', 0, LARGEST_LIST).replace(/\n$/u, '').split('\n') ?? [];
}

function keyName(run: string): string {
  return `lifeboat-bundle/${run}`;
}

function sha256(data: Buffer | string | undefined): string {
  return hash('sha256', data ?? '', 'hex');
}
