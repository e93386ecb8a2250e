import type { FollowUp } from '../../machines/parts/follow-up.ts';
import type { QuestionOption as MachineOption, OtherWay, Question } from '../../machines/parts/question.ts';
import type { DeepReadonly } from '../base/deep-readonly.ts';
import type { Prose, ProseSection } from './prose.ts';
import type { WatchedView } from './run-record.ts';

/**
 * Plain data, every text already printable (see text.ts): all that the terminal UI, the plain renderer and
 * tests need to draw a run.
 */

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'dim';

export interface RailStep {
  readonly id: string;
  readonly title: string;
  /** `open`: passed, but its work is not done yet. */
  readonly state: 'done' | 'open' | 'current' | 'ahead' | 'skipped' | 'failed';
  /** Short, such as the reason of a skip. */
  readonly note?: string | undefined;
  /** Time in this step. */
  readonly seconds?: number;
  /** Seconds in earlier runs, for a step to come. */
  readonly usual?: number | undefined;
  /** From the runbook. */
  readonly prose?: Prose | undefined;
}

export interface FactLine {
  readonly label: string;
  readonly value: string;
  readonly tone: Tone;
}

export interface LogLine {
  /** `HH:MM:SS`, UTC. */
  readonly at: string;
  readonly text: string;
  readonly tone: Tone;
  /** Of the rail; undefined in the first state. */
  readonly step?: string;
  /** The run's activity since then, in the words of `ActivityView`; the text says it too. */
  readonly next?: string;
}

export interface QuestionOption extends Omit<MachineOption, 'event' | 'recommended'> {
  /** As `optionKey` names it. */
  readonly event: string;
  readonly recommended: boolean;
}

/** With the options of the view. */
type Viewed<Kind extends Question['kind']> = Omit<Extract<Question, { kind: Kind }>, 'options' | 'event'> & {
  readonly options: readonly QuestionOption[];
};

/** Takes more than a choice; `event` names that answer. */
type Entered<Kind extends Question['kind']> = Viewed<Kind> & { readonly event: string };

export type QuestionView =
  | (Omit<Viewed<'choice'>, 'otherWays'> & {
      /** The step goes on whether this is answered or not. */
      readonly beside?: true;
      /** Present after a failure, or if a call's outcome is unknown. */
      readonly trouble?: TroubleView;
    })
  | (Omit<Entered<'typed-name'>, 'order' | 'byOthers'> & {
      /** Present if a second person must agree first. */
      readonly approval?: ApprovalView;
    })
  | Entered<'secret'>
  | (Omit<Entered<'time'>, 'suggested' | 'wentWrongAt' | 'backupsAt'> & {
      readonly suggested: string;
      /** Times of the incident, if given, and of known backups. */
      readonly marks: { readonly incident: string | undefined; readonly backups: readonly string[] };
    })
  | Entered<'text'>
  | (Omit<Viewed<'followUps'>, 'followUps'> & {
      /** Only open ones; `RunView.followUps` has all. */
      readonly open: readonly FollowUpView[];
    });

/** Facts besides the sentence that says what happened. */
export interface TroubleView {
  /** The request, the answer, what the service shows, the code: each with its time. */
  readonly facts: readonly FactLine[];
  /** The most helpful first. */
  readonly commands: readonly WayOn[];
  /** Failures in a row: `the last 3 tries got 502`. */
  readonly tries?: string | undefined;
}

/** An exact command that leads on or investigates. */
export interface WayOn extends Omit<OtherWay, 'leadsTo'> {
  /** For a screen; undefined if only the command does it. */
  readonly leadsTo?: OtherWay['leadsTo'];
}

/** Approval by a second person. */
export interface ApprovalView {
  readonly state: 'needed' | 'given' | 'expired' | 'withdrawn' | 'bypassed';
  /** Empty until it was asked for. */
  readonly challenge: string;
  /** The second person signs this file with this command. */
  readonly file: string;
  readonly command: string;
  /** `YYYY-MM-DD HH:MM:SS`, UTC. */
  readonly expiresAt: string;
  /** The approver, or the reason of a bypass or withdrawal. */
  readonly by?: string | undefined;
  /** Why a present signature does not count. */
  readonly problem?: string | undefined;
}

/** Texts are cleaned. */
export interface FollowUpView
  extends DeepReadonly<Pick<FollowUp, 'id' | 'what' | 'subject' | 'commands' | 'doable'>> {
  readonly owner: string;
  /** Seconds until now, or until it was closed; undefined if unknown. */
  readonly age: number | undefined;
  /** Seconds; negative if overdue, undefined without a limit. */
  readonly left: number | undefined;
  /** One line; undefined while it is open. */
  readonly closed: { readonly tone: Tone; readonly text: string } | undefined;
}

/** From this share of the recovery time on, the responder is warned. */
export const SHARE_TO_WARN = 0.8;

/** Seconds. */
export interface ObjectiveView {
  readonly name: 'RTO' | 'RPO';
  readonly limit: number | undefined;
  readonly value: number | undefined;
  readonly running: boolean;
  readonly tone: Tone;
  /** Undefined without a limit, and while it can still be met. */
  readonly verdict?: 'met' | 'missed' | 'given up' | 'not decided';
  /** As the report measures them; parts without time are missing. */
  readonly slices?: readonly { readonly name: string; readonly seconds: number }[];
  /** `decide 2 min 10 s, queue 4 s, …`, or how the RPO was measured. */
  readonly detail: string;
  /** Why it was abandoned or is not decided, as a sentence without a full stop. */
  readonly why?: string | undefined;
}

export interface ActivityView {
  /** A sentence without a full stop: `waiting for backup 7`. */
  readonly title: string;
  readonly seconds: number;
  /** Longer than it should take. */
  readonly overdue?: true | undefined;
  /** A missing answer, since when, and the latest time it is waited for. */
  readonly awaited?: string | undefined;
  /** The usual time of the step and its expected end: `usually 4 min; …`. */
  readonly expected?: string | undefined;
  /** The same for the whole run. */
  readonly runExpected?: string | undefined;
  readonly progress?:
    | {
        readonly kind: 'bytes';
        readonly done: number;
        readonly total: number | undefined;
        readonly bytesPerSecond: number | undefined;
      }
    | { readonly kind: 'task'; readonly status: string }
    | { readonly kind: 'wait'; readonly secondsLeft: number };
}

/** The same words in every renderer. */
export type Verdict = 'proven' | 'proven, with deviations' | 'not proven' | 'done' | 'stopped' | 'abandoned';

export interface OutcomeView {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly verdict: Verdict;
  /** One sentence. */
  readonly title: string;
  /** `1 min 52 s, 2026-11-21 03:00:41 to 03:02:33 UTC`. */
  readonly took: string;
  /** A restore may have gone into this instance, and its content is not known. */
  readonly unknown?: string;
  /** In the ledger of the instance. */
  readonly leaves?: readonly string[];
  /** After a stop at a failure; missing if there is none. */
  readonly ways?: readonly WayOn[];
  /** To be known before the successes, worst first. */
  readonly remarks: readonly { readonly tone: Tone; readonly text: string }[];
  /** Written on request: the file, and the command. */
  readonly report: { readonly file: string; readonly command: string };
  /** Of the journal; undefined until it was read, and if there is none. */
  readonly anchor?: string;
  /** By subject. */
  readonly groups: readonly FactGroupView[];
}

export interface FactGroupView {
  readonly title: string;
  readonly facts: readonly FactLine[];
}

/** The second of three chapters is `{ number: 2, of: 3 }`. */
export interface DrillPlace {
  readonly number: number;
  readonly of: number;
}

export interface RunView {
  readonly runId: string;
  readonly runbook: string;
  readonly title: string;
  readonly instance: string;
  /** The instance that the run changes, if it is another one. */
  readonly target?: string | undefined;
  readonly mode: 'LIVE' | 'REHEARSAL';
  /** `YYYY-MM-DD HH:MM:SS`, UTC. */
  readonly clock: string;
  /** Seconds, until the run ended. */
  readonly elapsed: number;
  readonly rail: readonly RailStep[];
  /** For the current state. */
  readonly prose: ProseSection;
  readonly facts: readonly FactLine[];
  readonly question?: QuestionView | undefined;
  readonly activity?: ActivityView | undefined;
  /** Open and closed; empty for most of a run. */
  readonly followUps: readonly FollowUpView[];
  /** Empty for a runbook that recovers nothing. */
  readonly objectives: readonly ObjectiveView[];
  /** Newest last. */
  readonly log: readonly LogLine[];
  /** Shown above everything: a call in doubt, a paused run, a failure. */
  readonly banner?:
    | { readonly tone: Tone; readonly text: string; readonly hints: readonly string[] }
    | undefined;
  /** Waits for credentials that the service accepts; `RunPort.wake` tries again. */
  readonly paused: boolean;
  /** One sentence: why it cannot be resumed once left, and what stays; undefined if it can be resumed. */
  readonly gone?: string | undefined;
  /** After this chapter of the drill, the drill continues. */
  readonly chapter?: DrillPlace | undefined;
  /** Present if another process drives the run: nothing can be answered here. */
  readonly watched?: WatchedView;
  /** Present when the run is over. */
  readonly outcome?: OutcomeView | undefined;
}
