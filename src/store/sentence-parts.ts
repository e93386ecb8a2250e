import { counted, formatSeconds } from '../base/format.ts';
import { type ApprovalPolicy, type RunEntryBody, Who } from './run-entries.ts';
/** An entry as a printable sentence without a full stop; `tone` tells a renderer how to emphasise it. */
export interface Sentence {
  readonly text: string;
  readonly tone: 'plain' | 'good' | 'warn' | 'bad' | 'dim';
  /** The title of the state that the entry led to; the text contains it too. */
  readonly next?: string;
}

export function say(text: string, tone: Sentence['tone'] = 'plain'): Sentence {
  return { text, tone };
}

/** `: why`, as the end of a sentence about a failure. */
export function because(failure: { readonly shortMessage: string } | undefined): string {
  return failure === undefined ? '' : `: ${failure.shortMessage}`;
}

/** `, because: why`, as the end of a sentence about a decision. */
export function reason(text: string | undefined): string {
  return text === undefined ? '' : `, because: ${text}`;
}

/** `, login ada (uid 1000) on host-1, config 0a1b2c3d4e5f`; empty for an entry without `who`. */
export function whoWords(value: unknown): string {
  const { data: who } = Who().safeParse(value);
  if (who === undefined) return '';
  const uid = who.uid === undefined ? '' : ` (uid ${who.uid})`;
  return `, login ${who.login}${uid} on ${who.host}, config ${who.config.slice(0, 12)}`;
}

/** The approval policy as the rest of a sentence; empty if the entry has none. */
export function policyWords(approvals: ApprovalPolicy | undefined): string {
  return approvals === undefined
    ? ''
    : `; ${policyFacts(approvals)
        .map((fact) => fact.join(': '))
        .join(', ')}`;
}

export function policyFacts(approvals: ApprovalPolicy): (readonly [label: string, value: string])[] {
  const { required, expiresSeconds, signers, revoked } = approvals;
  return [
    ...Object.entries(required).map(([name, level]) => [`approval on ${name}`, LEVELS[level]] as const),
    ...(expiresSeconds === undefined ? [] : [['a request lasts', formatSeconds(expiresSeconds)] as const]),
    ...(signers === undefined ? [] : [['allowed signers', fileWords(signers)] as const]),
    ...(signers === undefined
      ? []
      : [['revoked keys', revoked === undefined ? 'no list' : fileWords(revoked)] as const]),
  ];
}

/** The keys that the key store lacked when the run was resumed, as the rest of a sentence. */
export function keysWords(keys: RunEntryBody<'run.resumed'>['keys']): string {
  const { entered = [], without = [] } = keys ?? {};
  return [
    ...(entered.length === 0 ? [] : [`; entered key ${entered.join(', ')}`]),
    ...(without.length === 0 ? [] : [`; goes on without key ${without.join(', ')}`]),
  ].join('');
}

const LEVELS = {
  none: 'not needed',
  overwrites: 'for what overwrites data',
  destructive: 'for every destructive step',
} as const;

function fileWords({ sha256, lines, problem }: NonNullable<ApprovalPolicy['revoked']>): string {
  if (problem !== undefined) return `not read: ${problem}`;
  return `${counted(lines.length, 'line')}, SHA-256 ${sha256}`;
}
