import { counted, formatSpan } from '../base/format.ts';
import type { LoadedConfig } from '../config/loaded.ts';
import { DRILL_SHARE, ESCROW_SHARE, MISSED_EVALUATIONS, PERIODS } from '../plans/periods.ts';
import type { Duty } from './gaps.ts';
import type { LedgerFacts } from './ledger-facts.ts';

/** What was done of what the config asks for. Times in milliseconds since 1970. */
export interface Done {
  readonly ledgers: ReadonlyMap<string, Pick<LedgerFacts, 'evaluatedAt' | 'provenAt' | 'keySetAt'>>;
  /** The proven runs that brought data of an instance back, or data into it, by its name. */
  readonly recoveredAt: ReadonlyMap<string, readonly number[]>;
  readonly drilledAt: readonly number[];
  /** By the recipient of sealed copies: when a challenge was opened. */
  readonly openedAt: ReadonlyMap<string, readonly number[]>;
}

/** A plan that the config asks something of. Periods in milliseconds. */
export interface AskedPlan {
  readonly subject: string;
  readonly evaluate?: { readonly every: number } | undefined;
  readonly drill?: { readonly every: number } | undefined;
  /** Its evaluations and proven runs, milliseconds since 1970. */
  readonly evaluatedAt: readonly number[];
  readonly provenAt: readonly number[];
}

type Periods = Pick<LoadedConfig, 'instances' | 'drills' | 'evaluate' | 'keys' | 'operator'>;

/** How long the proof of a backup counts: until an evaluation calls it too old. */
const PROOF_MS = PERIODS['proven-backup']?.red ?? 0;

/**
 * What the config asks for repeatedly, of these instances and plans, with the limits after which an
 * evaluation is red or a notice is sent. A target is asked for nothing: it holds no data of its own. Pure.
 */
export function dutiesOf(
  { instances, drills, evaluate, keys, operator }: Periods,
  names: readonly string[],
  plans: readonly AskedPlan[],
  { ledgers, recoveredAt, drilledAt, openedAt }: Done,
): readonly Duty[] {
  const who = operator.name;
  const every = drills?.every;
  const { escrow } = keys;
  const rehearsed = (name: string, setting: string, ms: number, times: readonly number[]) => ({
    asked: asked(setting, ms, DRILL_SHARE),
    ...{ subject: name, who, limitMs: ms * DRILL_SHARE, done: [times] },
  });
  const evaluated = (subject: string, setting: string, ms: number, times: readonly number[]): Duty => ({
    ...{ what: 'evaluation', check: 'evaluated', subject, who, isQuiet: true, done: [times] },
    ...{ asked: asked(setting, ms, MISSED_EVALUATIONS), limitMs: ms * MISSED_EVALUATIONS },
  });
  return [
    ...(every === undefined
      ? []
      : [{ what: 'drill' as const, ...rehearsed('', 'drills.every', every, drilledAt) }]),
    ...(escrow === undefined
      ? []
      : [
          {
            ...{ what: 'escrow-proof' as const, subject: '', who, atLeast: escrow.atLeast },
            asked: asked('keys.escrow.proof', escrow.proof, ESCROW_SHARE),
            limitMs: escrow.proof * ESCROW_SHARE,
            done: escrow.recipients.map(({ recipient }) => openedAt.get(recipient) ?? []),
          },
        ]),
    ...names.flatMap((name): Duty[] => {
      const config = instances[name];
      if (config === undefined || config.role === 'target') return [];
      const { evaluatedAt = [], provenAt = [], keySetAt = [] } = ledgers.get(name) ?? {};
      const { cryptoperiod } = config;
      const recovered = recoveredAt.get(name) ?? [];
      return [
        ...(every === undefined
          ? []
          : [
              {
                ...{ what: 'rehearsal' as const, check: 'restored' },
                ...rehearsed(name, 'drills.every', every, recovered),
              },
            ]),
        ...(evaluate === undefined ? [] : [evaluated(name, 'evaluate.every', evaluate.every, evaluatedAt)]),
        {
          ...{ what: 'backup-proof', check: 'proven-backup', subject: name, who, done: [provenAt] },
          ...{ asked: `a proof counts for ${spanOf(PROOF_MS)}`, limitMs: PROOF_MS },
        },
        ...(cryptoperiod === undefined
          ? []
          : [
              {
                ...{ what: 'rotation' as const, subject: name, who, done: [keySetAt] },
                ...{ asked: `cryptoperiod: ${spanOf(cryptoperiod)}`, limitMs: cryptoperiod },
              },
            ]),
      ];
    }),
    ...plans.flatMap(({ subject, evaluate: looked, drill, evaluatedAt, provenAt }): Duty[] => [
      ...(looked === undefined ? [] : [evaluated(subject, 'evaluate.every', looked.every, evaluatedAt)]),
      ...(drill === undefined
        ? []
        : [{ what: 'plan-run' as const, ...rehearsed(subject, 'drill.every', drill.every, provenAt) }]),
    ]),
  ];
}

/** `drills.every: 90 days, missed after 112.5 days`. */
function asked(setting: string, ms: number, share: number): string {
  return `${setting}: ${spanOf(ms)}, missed after ${spanOf(ms * share)}`;
}

const DAY_MS = 24 * 60 * 60_000;

/** In hours, or in days from two days on. */
function spanOf(ms: number): string {
  return ms < 2 * DAY_MS ? formatSpan(ms / 1000) : counted(Math.round((ms / DAY_MS) * 10) / 10, 'day');
}
