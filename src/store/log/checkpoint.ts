import { hash, type KeyObject } from 'node:crypto';
import { msOf } from '../../base/instant.ts';
import { LOG_STREAM, type StreamName } from '../journal.ts';
import { isStreamName } from '../new-entry.ts';
import { exactBase64, openNote, rawPublicKey, textOf } from './signed-note.ts';

/**
 * The signed head of a log, in the form of c2sp.org/tlog-checkpoint, which is a signed note (signed-note.ts):
 *
 *     lifeboat/<16 hex digits>              the origin: the name of the log, and of the signing key too
 *     <size>                                how many entries
 *     <base64 root>                         of the RFC 6962 tree over them
 *     armed <stream> <instance> <verb> <intent> <time>
 *                                           extension lines: calls that may have left, and whose outcome
 *                                           is not on record at this size; each field percent-encoded as
 *                                           UTF-8, but for `/` and `:`
 *     armed-more <count>                    and this many more calls, for which a note has no room
 *
 *     — lifeboat/<16 hex digits> <base64 of key id and signature>
 */
export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  /** 64 lower-case hex digits. */
  readonly root: string;
  readonly armed: readonly ArmedCall[];
  /** How many more armed calls there were than are named. */
  readonly unnamed?: number;
}

/** A call that may have been sent when the checkpoint was made. */
export interface ArmedCall {
  /** The run that sends it, or the ledger for a single command of an earlier version. */
  readonly stream: StreamName;
  readonly instance: string;
  readonly verb: string;
  readonly intent: string;
  /** RFC 3339 UTC. */
  readonly at: string;
}

/** A checkpoint whose signature was verified, with the installation that signed it. */
export interface SignedCheckpoint extends Checkpoint {
  /** 16 hex digits (`installationOf`). */
  readonly signedBy: string;
  readonly note: string;
}

export type ReadCheckpoint =
  | { readonly result: 'signed'; readonly checkpoint: SignedCheckpoint }
  | { readonly result: 'unreadable' | 'unknown-key' | 'bad-signature' };

const ORIGIN = /^lifeboat\/[0-9a-f]{16}$/u;
/** A note has room for this many calls, so the oldest are named; readers accept no more either. */
export const MAX_ARMED = 400;
const MORE = 'armed-more';

/** Whether a text is the name of a log. */
export function isOrigin(text: string): boolean {
  return ORIGIN.test(text);
}

/** The text of a checkpoint that gets signed. Pure. */
export function checkpointText({ origin, size, root, armed }: Checkpoint): string {
  const head = [origin, String(size), Buffer.from(root, 'hex').toString('base64')];
  const more = armed.length > MAX_ARMED ? [`${MORE} ${armed.length - MAX_ARMED}`] : [];
  return `${[...head, ...armed.slice(0, MAX_ARMED).map(armedLine), ...more].join('\n')}\n`;
}

/** Reads a checkpoint signed by one of the known keys. Never throws, whatever the text. */
export function readCheckpoint(note: string, knownKeys: readonly KeyObject[]): ReadCheckpoint {
  const parsed = parseCheckpoint(textOf(note) ?? '');
  if (parsed === undefined) return { result: 'unreadable' };
  // The key's name is the origin: a note that the same key signs under another name is not a checkpoint.
  const opened = openNote(note, parsed.origin, knownKeys);
  if (opened.result !== 'signed') return opened;
  return { result: 'signed', checkpoint: { ...parsed, signedBy: installationOf(opened.key), note } };
}

/** The claims of a note, without checking its signature; undefined if it is not a checkpoint. */
export function claimOf(note: string | undefined): Checkpoint | undefined {
  return note === undefined ? undefined : parseCheckpoint(note.slice(0, note.lastIndexOf('\n\n') + 1));
}

/** The claims of a checkpoint text, unverified; undefined if it is not one. Unknown lines are ignored. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  const [origin = '', size = '', root = '', ...rest] = text.split('\n');
  const digest = exactBase64(root);
  const isSound =
    isOrigin(origin) &&
    /^(?:0|[1-9][0-9]{0,14})$/u.test(size) &&
    digest?.length === 32 &&
    rest.at(-1) === '' &&
    rest.slice(0, -1).every((line) => line !== '');
  if (!isSound) return undefined;
  const lines = rest.slice(0, MAX_ARMED + 1);
  const armed = lines.slice(0, MAX_ARMED).flatMap((line) => parseArmed(line));
  const [unnamed] = lines.flatMap((line) => parseMore(line));
  return {
    ...{ origin, size: Number(size), root: digest.toString('hex'), armed },
    ...(unnamed === undefined ? {} : { unnamed }),
  };
}

/** Names an installation by its signing key: the first 16 hex digits of the SHA-256 of the raw public key. */
export function installationOf(publicKey: KeyObject): string {
  return hash('sha256', rawPublicKey(publicKey), 'hex').slice(0, 16);
}

function armedLine({ stream, instance, verb, intent, at }: ArmedCall): string {
  return ['armed', stream, instance, verb, intent, at]
    .map(encodeURIComponent)
    .join(' ')
    .replaceAll('%2F', '/')
    .replaceAll('%3A', ':');
}

function parseMore(line: string): readonly number[] {
  const [word, count = '', ...rest] = line.split(' ');
  return word === MORE && rest.length === 0 && /^[1-9][0-9]{0,8}$/u.test(count) ? [Number(count)] : [];
}

function parseArmed(line: string): readonly ArmedCall[] {
  const fields = line.split(' ');
  if (fields.length !== 6 || fields[0] !== 'armed') return [];
  try {
    const [, stream = '', instance = '', verb = '', intent = '', at = ''] = fields.map(decodeURIComponent);
    const isStream = isStreamName(stream) && stream !== LOG_STREAM;
    return isStream && !Number.isNaN(msOf(at)) ? [{ stream, instance, verb, intent, at }] : [];
  } catch {
    return [];
  }
}
