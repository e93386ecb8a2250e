import type { Anchor } from '../store/log/anchor.ts';
import type { AuditReport } from './audit-report.ts';

/** Proofs that are missing, and leave open what the verdict would say otherwise. */
const LIMITS = new Set([
  'stream.unsigned',
  'stream.unsealed',
  'stream.late',
  'transcript.tail',
  'approval.unchecked',
  'key.other',
]);
/** More would hide the sentence. */
const MOST = 5;

/** What an audit comes to, in one line without a stop. It never says more than was checked: what is not proven stands in it as a limit. */
export function verdictOf({
  ok,
  streams,
  findings,
}: Pick<AuditReport, 'ok' | 'streams' | 'findings'>): string {
  if (!ok) return 'NOT INTACT: see the problems above';
  if (streams.length === 0) return 'there is nothing to verify';
  const limits = findings.filter(({ code }) => LIMITS.has(code)).map(({ shortMessage }) => shortMessage);
  const sound = 'nothing was changed, removed or reordered';
  if (limits.length === 0) return sound;
  const rest = limits.length > MOST ? [`${limits.length - MOST} more, which stand above`] : [];
  return `${sound} within these limits: ${[...limits.slice(0, MOST), ...rest].join('; ')}`;
}

/** What was audited: the journal of a home, a bundle, or an exported journal. */
export type Audited = 'home' | 'bundle' | 'export';

/** What an audit could only believe, with what it had from elsewhere: one line each, without a stop. */
export function believedBy(
  audited: Audited,
  { trust, findings }: Pick<AuditReport, 'trust' | 'findings'>,
  anchors: readonly Anchor[],
): string[] {
  // One that does not hold pins nothing.
  const pins = findings.some(({ code }) => code.startsWith('anchor.')) ? [] : anchors;
  if (trust === 'given')
    return pins.length > 0
      ? []
      : ['a later state of the record than this one is not excluded: that takes an anchor from elsewhere'];
  const key =
    trust === 'none'
      ? 'no signature was checked'
      : `the key ${WHERE[audited]} is believed, and what it signs`;
  const rest = REST[audited];
  if (pins.length === 0)
    return [`${key}: whoever made all of this anew is not found without a key or an anchor from elsewhere`];
  const pinned = pins.map(({ stream, seq }) => `entries 1 to ${seq} of ${stream}`).join(', ');
  return [`only ${pinned} are pinned by the anchor; ${rest === '' ? '' : `${rest} are believed; `}${key}`];
}

const WHERE: Readonly<Record<Audited, string>> = {
  home: 'beside the journal',
  bundle: 'in the bundle',
  export: 'beside the export',
};
const REST: Readonly<Record<Audited, string>> = {
  home: 'all other entries and the transcripts',
  bundle: 'report, plan, ledgers and transcript',
  export: '',
};
