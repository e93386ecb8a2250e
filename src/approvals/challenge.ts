import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { LifeboatError } from '../base/errors.ts';
import { msOf } from '../base/instant.ts';
import { show } from '../base/text.ts';

/**
 * What a second person is asked to agree to: a plan, and when it was asked for. `challengeText` makes every
 * text printable ASCII on one line.
 */
export interface Challenge extends Omit<Plan, 'version' | 'event'> {
  /** Id and version. */
  readonly runbook: string;
  /** The last entry of the run's journal before the request: no two challenges of a run are alike. */
  readonly entry: string;
  readonly requester: string;
  /** RFC 3339, UTC. */
  readonly asked: string;
  readonly expires: string;
  /** SHA-256, hex; see `planHash`. */
  readonly plan: string;
}

const TITLE = 'lifeboat approval request, version 1';
const END =
  'end: whoever signs this file with `ssh-keygen -Y sign -n lifeboat-approval` ' +
  'approves this order, once, until it expires';
const NAMES = [
  'order',
  'run',
  'runbook',
  'mode',
  'instance',
  'target',
  'url',
  'state',
  'entry',
  'requester',
  'asked',
  'expires',
  'plan',
  'prompt',
] as const;
const LISTS = { fact: 'facts', override: 'overrides', call: 'calls' } as const;
const LINE_LIMIT = 400;
const LIST_LIMIT = 60;
/** Bytes, above any challenge created here. */
export const MAX_CHALLENGE_BYTES = 128 * 1024;

/** The text that is signed, byte for byte: printable ASCII, one item a line, ending in a line feed. */
export function challengeText(challenge: Challenge): string {
  const lines = NAMES.map((name) => `${name}: ${plain(challenge[name])}`);
  const lists = Object.entries(LISTS).flatMap(([word, list]) =>
    atMost(challenge[list]).map((text) => `${word}: ${plain(text)}`),
  );
  return `${[TITLE, '', ...lines, ...lists, '', END].join('\n')}\n`;
}

/**
 * Throws `approval.unreadable` for anything but exactly what `challengeText` writes, so that a signed text
 * cannot contain anything that is not shown.
 */
export function parseChallenge(text: string): Challenge {
  if (text.length > MAX_CHALLENGE_BYTES) throw unreadable('it is too long');
  const [title, blank, ...rest] = text.split('\n');
  const changes = changesIn(text);
  if (changes.length > 0) throw unreadable(`mail or an editor changed it: ${changes.join(', ')}`);
  if (title !== TITLE || blank !== '') throw unreadable('it does not begin like one');
  const values = NAMES.map((name) => {
    const line = rest.shift() ?? '';
    if (!line.startsWith(`${name}: `)) throw unreadable(`its ${name} is missing`);
    return [name, line.slice(name.length + 2)] as const;
  });
  const lists = { facts: [] as string[], overrides: [] as string[], calls: [] as string[] };
  for (const [word, list] of Object.entries(LISTS))
    while (rest[0]?.startsWith(`${word}: `)) lists[list].push(rest.shift()?.slice(word.length + 2) ?? '');
  const challenge = { ...Object.fromEntries(values), ...lists } as unknown as Challenge;
  if (challengeText(challenge) !== text) throw unreadable('it was changed, or another version wrote it');
  if (Number.isNaN(msOf(challenge.asked)) || Number.isNaN(msOf(challenge.expires)))
    throw unreadable('its times cannot be read');
  return challenge;
}

/** Invisible changes that mail and editors make, in words; none for a text that is not a request. */
function changesIn(text: string): readonly string[] {
  const [, mark = '', rest = ''] = /^(\ufeff|\u00ef\u00bb\u00bf)?(.*)$/s.exec(text) ?? [];
  if (/^(?:\u00ff\u00fel\0|\u00fe\u00ff\0l)/.test(text)) return ['it is UTF-16 now'];
  if (!rest.startsWith(TITLE)) return [];
  return [
    ...(mark === '' ? [] : ['a byte order mark stands before it']),
    ...(rest.includes('\r') ? ['its lines end with CR LF'] : []),
    ...(/\n$/.test(rest) ? [] : ['the end of its last line is missing']),
    ...(/\n\r?\n$/.test(rest) ? ['an empty line follows it'] : []),
  ];
}

/** Variants of a request as mail and editors may leave it, each with its changes. */
export function changedCopies(text: string): readonly { readonly text: string; readonly how: string }[] {
  const ends = ['\n', '', '\n\n'].map((end) => `${text.trimEnd()}${end}`);
  const lines = ends.flatMap((one) => [one, one.replaceAll('\n', '\r\n')]);
  const copies = lines.flatMap((one) => [one, `\ufeff${one}`]);
  return copies.filter((one) => one !== text).map((one) => ({ text: one, how: changesIn(one).join(', ') }));
}

/** The first 16 hex digits of the SHA-256 of the text. */
export function challengeId(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 16);
}

/** One printable ASCII line, never empty; every other character is written as its code point. */
function plain(text: string): string {
  // Hidden and terminal-active characters are replaced first; letters of other scripts keep their code point.
  const ascii = show(text, LINE_LIMIT).replace(
    /[^\x20-\x7e]/gu,
    (character) => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`,
  );
  const line = ascii.trim();
  return line === '' ? '-' : line.slice(0, LINE_LIMIT);
}

function atMost(lines: readonly string[]): readonly string[] {
  if (lines.length <= LIST_LIMIT) return lines;
  return [...lines.slice(0, LIST_LIMIT - 1), `${lines.length - LIST_LIMIT + 1} more are left out here`];
}

function unreadable(why: string): LifeboatError {
  return new LifeboatError('approval.unreadable', `this is not an approval request of lifeboat: ${why}`, {
    hints: ['nothing was signed', 'use the file as the run wrote it, byte for byte'],
  });
}

/** The subject of an approval. Equal plans have equal hashes; any difference needs its own approval. */
export interface Plan {
  readonly run: string;
  readonly runbook: string;
  readonly version: string;
  readonly mode: string;
  readonly state: string;
  /** The confirmation's question, with what has changed since an earlier one. */
  readonly prompt: string;
  /** What is confirmed, as an order: `restore backup 3 into orders`. */
  readonly order: string;
  readonly instance: string;
  /** The instance that is changed: its name is typed at the confirmation. */
  readonly target: string;
  /** The target's address in the config. */
  readonly url: string;
  readonly event: string;
  readonly facts: readonly string[];
  /** Findings that were passed over and steps that were skipped, with their reasons. */
  readonly overrides: readonly string[];
  /** The calls that are still to be made, in order. */
  readonly calls: readonly string[];
}

/** SHA-256, hex, over the canonical JSON (RFC 8785) of the plan. */
export function planHash(plan: Plan): string {
  return hash('sha256', canonicalize(plan) ?? '', 'hex');
}
