import type { KeyObject } from 'node:crypto';
import { basename } from 'node:path';
import { type Checkpoint, installationOf, readCheckpoint } from '../store/log/checkpoint.ts';
import type { Audit, AuditOptions, Trust } from './audit-report.ts';
import {
  checkpointRoot,
  type NoteFile,
  parsePublicKeys,
  readNotes,
  readPublicKeys,
  sharedCheckpointRoot,
} from './checkpoint-files.ts';

export interface Checkpoints {
  /** Valid checkpoints by the stream they sign. */
  readonly byStream: ReadonlyMap<string, readonly Checkpoint[]>;
  readonly trust: Trust;
  /** Those whose keys are known. */
  readonly installations: ReadonlySet<string>;
}

/** Reads and verifies all checkpoints of a home and its extra folders. What does not verify becomes a finding. */
export function collectCheckpoints(options: AuditOptions, audit: Audit): Checkpoints {
  const home = checkpointRoot(options.home);
  const given = options.publicKey === undefined ? undefined : parsePublicKeys(options.publicKey);
  if (given?.length === 0)
    audit.problem('key.unreadable', 'the given public key is not an ed25519 key in PEM');
  const stored = parsePublicKeys(options.storedKey ?? '').map(installationOf);
  const keys = given ?? [...parsePublicKeys(options.storedKey ?? ''), ...readPublicKeys(home)];
  const byStream = new Map<string, Checkpoint[]>();

  for (const file of allNotes(home, keys, options, audit)) {
    const checkpoint = verified(file, keys, audit);
    if (checkpoint === undefined) continue;
    const others = byStream.get(checkpoint.stream);
    if (others === undefined) byStream.set(checkpoint.stream, [checkpoint]);
    else others.push(checkpoint);
  }
  const others = stored.length === 0 ? [] : tellOthers(byStream, stored, audit);
  const isGiven = given !== undefined || (stored.length > 0 && others.length === 0);
  const trust = keys.length === 0 ? 'none' : isGiven ? 'given' : 'beside';
  return { byStream, trust, installations: new Set(keys.map(installationOf)) };
}

/** A key that was planted beside the journal looks like one that was there before: people have to know of it. */
function tellOthers(
  byStream: ReadonlyMap<string, readonly Checkpoint[]>,
  stored: readonly string[],
  audit: Audit,
): readonly string[] {
  const signed = Map.groupBy([...byStream.values()].flat(), ({ installation }) => installation);
  const others = [...signed].filter(([installation]) => !stored.includes(installation));
  for (const [installation, checkpoints] of others) {
    const streams = [...new Set(checkpoints.map(({ stream }) => stream))];
    const more = streams.length > 3 ? ` and ${streams.length - 3} more` : '';
    audit.warning(
      'key.other',
      `heads of ${streams.slice(0, 3).join(', ')}${more} are signed by the key ${installation}, which is believed: it is not the one in the key store`,
    );
  }
  return others.map(([installation]) => installation);
}

function allNotes(home: string, keys: readonly KeyObject[], options: AuditOptions, audit: Audit): NoteFile[] {
  const shared = (options.folders ?? []).flatMap((folder) => {
    const notes = keys.flatMap((key) =>
      readNotes(sharedCheckpointRoot(folder, installationOf(key)), options.stream),
    );
    if (notes.length === 0)
      audit.warning('checkpoint.none', `no checkpoint of this journal lies in ${folder}`);
    return notes;
  });
  return [...readNotes(home, options.stream), ...shared];
}

function verified(file: NoteFile, keys: readonly KeyObject[], audit: Audit): Checkpoint | undefined {
  const where = { stream: file.stream };
  const name = basename(file.path);
  const read = readCheckpoint(file.note ?? '', keys);
  switch (read.result) {
    case 'signed':
      if (read.checkpoint.stream === file.stream) return read.checkpoint;
      audit.problem('checkpoint.misplaced', `${name} belongs to ${read.checkpoint.stream}`, where);
      return read.checkpoint;
    case 'unreadable':
      audit.problem('checkpoint.unreadable', `${name} is not a checkpoint any more`, where);
      return undefined;
    case 'unknown-key':
      audit.problem(
        'checkpoint.unknown-key',
        `${name} is signed by a key that this audit does not know`,
        where,
      );
      return undefined;
    case 'bad-signature':
      audit.problem('checkpoint.bad-signature', `${name} was changed: its signature does not fit`, where);
      return undefined;
    default:
      return read satisfies never;
  }
}
