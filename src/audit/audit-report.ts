import type { Row } from '../store/chain.ts';
import type { Anchor } from '../store/log/anchor.ts';
import { show } from '../text.ts';

/** One thing an audit found, as data. The message is printable: one line, lower case, no stop. */
export interface Finding {
  /** A problem is evidence of damage or tampering; a warning is a proof that is missing. */
  readonly severity: 'problem' | 'warning';
  readonly stream?: string;
  readonly seq?: number;
  readonly code: string;
  readonly shortMessage: string;
}

interface AuditedStream {
  readonly stream: string;
  readonly entries: number;
  /** The last entry's hash. */
  readonly head: string;
  /** How far a valid checkpoint reaches: entries up to this seq cannot be cut without being missed. 0 without one. */
  readonly sealed: number;
}

export interface AuditReport {
  /** No problems; there may be warnings. */
  readonly ok: boolean;
  readonly entries: number;
  readonly streams: readonly AuditedStream[];
  readonly findings: readonly Finding[];
  /** Where the public key came from: the caller, the folder of the checkpoints, or nowhere. */
  readonly trust: Trust;
}

export type Trust = 'given' | 'beside' | 'none';
type Where = { readonly stream?: string; readonly seq?: number };

/** What is audited, and by which key. */
export interface AuditOptions {
  readonly home: string;
  /** Looks at this stream only. */
  readonly stream?: string;
  /**
   * The signing key's public half (PEM, one or more blocks), got from the key store or from somewhere else. Without it the
   * keys beside the checkpoints are believed, and whoever could change the checkpoints could change these too.
   */
  readonly publicKey?: string;
  /**
   * The public half of the key in the key store (PEM). Keys beside the checkpoints are believed as well then, since one may have followed another, but what they have
   * signed is told.
   */
  readonly storedKey?: string;
  /** The extra folders that checkpoints were copied to. */
  readonly folders?: readonly string[];
  /** What somebody wrote down elsewhere: their streams must still contain it. */
  readonly anchors?: readonly Anchor[];
  /** Is given every entry about an approval: signatures are checked with a tool that does not belong to evidence. */
  readonly approval?: ((row: Row) => void) | undefined;
}

/** What the parts of an audit write to. */
export interface Audit {
  problem(code: string, shortMessage: string, where?: Where): void;
  warning(code: string, shortMessage: string, where?: Where): void;
  stream(audited: AuditedStream): void;
  report(trust: Trust): AuditReport;
}

/** Findings beyond this number are only counted: a destroyed database must not fill the memory. */
const MAX_FINDINGS = 500;
const NAME_LIMIT = 120;
/** A SHA-256 in hex. */
const HASH_LIMIT = 64;

export function createAudit(): Audit {
  const findings: Finding[] = [];
  const streams: AuditedStream[] = [];
  let problems = 0;
  let more = 0;
  // Names of streams, of files and what stands in them come from whoever made the record: cleaned here, once for all.
  const add = (finding: Finding) => {
    if (finding.severity === 'problem') problems += 1;
    if (findings.length >= MAX_FINDINGS) {
      more += 1;
      return;
    }
    const { stream, shortMessage } = finding;
    const where = stream === undefined ? {} : { stream: show(stream, NAME_LIMIT) };
    findings.push({ ...finding, ...where, shortMessage: show(shortMessage) });
  };
  return {
    problem: (code, shortMessage, where) => add({ severity: 'problem', ...where, code, shortMessage }),
    warning: (code, shortMessage, where) => add({ severity: 'warning', ...where, code, shortMessage }),
    stream: (audited) =>
      void streams.push({
        ...audited,
        stream: show(audited.stream, NAME_LIMIT),
        head: show(audited.head, HASH_LIMIT),
      }),
    report(trust) {
      const rest: Finding = {
        severity: 'warning',
        code: 'audit.more',
        shortMessage: `${more} more findings are not listed`,
      };
      return {
        ok: problems === 0,
        entries: streams.reduce((sum, { entries }) => sum + entries, 0),
        streams,
        findings: more === 0 ? findings : [...findings, rest],
        trust,
      };
    },
  };
}
