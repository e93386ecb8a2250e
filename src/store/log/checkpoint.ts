import { hash, type KeyObject } from 'node:crypto';
import type { StreamName } from '../journal.ts';
import { isStreamName } from '../new-entry.ts';
import { openNote, rawPublicKey, signNote } from './signed-note.ts';

/**
 * The signed head of a stream, in the text form of c2sp.org/tlog-checkpoint:
 *
 *     lifeboat/<installation>/<stream>
 *     <size: the seq of the last entry>
 *     <base64 of that entry's hash>
 *
 *     — lifeboat/<installation>/<stream> <base64 of key id and signature>
 *
 * `hash` is the head of a hash chain, not the root of a Merkle tree: to prove a checkpoint, the stream is read.
 */
export interface Checkpoint {
  readonly installation: string;
  readonly stream: StreamName;
  readonly seq: number;
  /** Lower-case hex, as in the journal. */
  readonly hash: string;
}

export type ReadCheckpoint =
  | { readonly result: 'signed'; readonly checkpoint: Checkpoint }
  | { readonly result: 'unreadable' | 'unknown-key' | 'bad-signature' };

/** Signs a head. */
export function signCheckpoint(
  head: Pick<Checkpoint, 'stream' | 'seq' | 'hash'>,
  privateKey: KeyObject,
  publicKey: KeyObject,
): string {
  const origin = `lifeboat/${installationOf(publicKey)}/${head.stream}`;
  const root = Buffer.from(head.hash, 'hex').toString('base64');
  return signNote(`${origin}\n${head.seq}\n${root}\n`, origin, privateKey, publicKey);
}

/** Reads a checkpoint, signed by one of the known keys. Never throws on any text. */
export function readCheckpoint(note: string, knownKeys: readonly KeyObject[]): ReadCheckpoint {
  const opened = openNote(note, knownKeys);
  if (opened.result !== 'signed') return opened;
  const [origin = '', size = '', root = '', ...rest] = opened.text.split('\n');
  const [, installation = '', stream = ''] = /^lifeboat\/([0-9a-f]{16})\/(.+)$/u.exec(origin) ?? [];
  const digest = Buffer.from(root, 'base64');
  const sound =
    rest.join('') === '' &&
    origin === opened.name &&
    installation === installationOf(opened.key) &&
    isStreamName(stream) &&
    /^(?:0|[1-9][0-9]{0,15})$/u.test(size) &&
    digest.length === 32;
  if (!sound) return { result: 'unreadable' };
  return {
    result: 'signed',
    checkpoint: { installation, stream, seq: Number(size), hash: digest.toString('hex') },
  };
}

/** Names an installation by its signing key: the first 16 hex digits of the SHA-256 of the raw public key. */
export function installationOf(publicKey: KeyObject): string {
  return hash('sha256', rawPublicKey(publicKey), 'hex').slice(0, 16);
}
