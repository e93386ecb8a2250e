import type { GroupDecision, GroupState, HeldWhy } from '../../../machines/parts/plan-events.ts';
import type { Answer } from '../../../machines/parts/question.ts';
import type { LaneState } from '../../plans/schedule.ts';
import type { RunEnd } from '../run-port.ts';
import type { WatchedView } from '../run-record.ts';
import type { LogLine, Tone } from '../run-view.ts';

/** Plain data in words, for every renderer. */
export interface PlanView {
  readonly runId: string;
  readonly plan: string;
  readonly mode: 'LIVE' | 'REHEARSAL';
  /** In words. */
  readonly state: string;
  readonly elapsedSeconds: number;
  /** Undefined if the plan does not say. */
  readonly rtoSeconds: number | undefined;
  readonly outcome: PlanOutcome | undefined;
  readonly groups: readonly GroupView[];
  /** The plan's own question first, then failures, then the most asked. */
  readonly asks: readonly AskView[];
  /** The shown moment, in milliseconds since 1970: the end of a plan that is over. */
  readonly nowMs: number;
  /** Set if another process conducts it, or none does. */
  readonly watched?: WatchedView;
}

export interface PlanOutcome {
  readonly title: string;
  readonly tone: Tone;
  readonly endedMs: number;
}

export interface GroupView {
  readonly id: string;
  readonly about: string | undefined;
  readonly state: GroupState;
  readonly words: string;
  readonly tone: Tone;
  /** The group's phase has begun and is not over. */
  readonly isNow: boolean;
  /** While it waits for a person. */
  readonly held: { readonly why: HeldWhy; readonly lanes: readonly string[] } | undefined;
  /** `at` is 0 before the first wave. */
  readonly wave: { readonly at: number; readonly of: number };
  readonly counts: LaneCounts;
  /** In words; undefined if no number of failures stops it, or if it is over. */
  readonly stopRule: string | undefined;
  readonly steps: readonly { readonly id: string; readonly words: string }[];
  readonly lanes: readonly LaneView[];
}

/** Each lane counts once. */
export interface LaneCounts {
  readonly done: number;
  readonly atWork: number;
  readonly waiting: number;
  readonly failed: number;
  readonly later: number;
  readonly out: number;
  /** Their group was stopped, and the run of their step is open. */
  readonly left: number;
}

export interface LaneView {
  /** Unique in the plan: `GROUP/LANE`. */
  readonly key: string;
  readonly group: string;
  readonly name: string;
  /** For people: a group without instances has one nameless lane. */
  readonly shown: string;
  readonly target: string | undefined;
  readonly is: LaneState['is'] | 'answered' | 'left';
  /** One or two words. */
  readonly state: string;
  readonly tone: Tone;
  /** What it does, asks, or waits for. */
  readonly words: string;
  /** Counted from 1; undefined before the first step and after the last. */
  readonly at: number | undefined;
  /** Start of its state, in milliseconds since 1970, if known. */
  readonly sinceMs: number | undefined;
  /** One for each step of the group. */
  readonly steps: readonly LaneStep[];
  /** The run of its step is open. */
  readonly isOpen: boolean;
  readonly runId: string | undefined;
  /** Of its question; undefined if it asks nothing. */
  readonly ask: string | undefined;
}

export interface LaneStep {
  readonly is: 'done' | 'failed' | 'passed' | 'open' | 'left' | 'left-out' | 'ahead';
  readonly runId: string | undefined;
  /** Why it was passed, or the number of the attempt; may be empty. */
  readonly note: string;
}

/** A question, once, with everyone who asks it. */
export interface AskView {
  readonly key: string;
  readonly of:
    | { readonly is: 'plan' }
    | { readonly is: 'group'; readonly group: string }
    | { readonly is: 'lanes'; readonly group: string; readonly step: string };
  readonly tone: Tone;
  /** Names that differ are NAME and TARGET. */
  readonly prompt: string;
  /** One fact a line. */
  readonly facts: readonly string[];
  readonly options: readonly AskOption[];
  /** Empty for a question of the plan or a group. */
  readonly lanes: readonly AskingLane[];
}

export interface AskingLane {
  readonly key: string;
  readonly shown: string;
  readonly runId: string | undefined;
  /** In this lane's own words. */
  readonly prompt: string;
}

export interface AskOption {
  readonly key: string;
  readonly label: string;
  readonly hint: string | undefined;
  readonly isRecommended: boolean;
  readonly disabled: string | undefined;
  readonly needs: Needs | undefined;
  readonly act: Act;
}

/** Typed by a person. */
export type Needs =
  | { readonly what: 'reason' | 'evidence'; readonly prompt: string }
  | { readonly what: 'name'; readonly prompt: string; readonly expected: string }
  | {
      readonly what: 'text';
      readonly prompt: string;
      readonly pattern: { readonly source: string; readonly says: string } | undefined;
    }
  /** RFC 3339, both ends included. */
  | { readonly what: 'time'; readonly prompt: string; readonly earliest: string; readonly latest: string }
  | { readonly what: 'secret'; readonly prompt: string; readonly twice: boolean; readonly least: number };

export type Act =
  /** `id` of a follow-up. */
  | { readonly do: 'answer'; readonly event: string; readonly id: string | undefined }
  | { readonly do: 'decide'; readonly decision: Decision }
  /** Tries again, for a run that waits for credentials. */
  | { readonly do: 'wake' };

/** About a group or a lane. */
export interface Decision {
  /** For the record: `take a out of data`. */
  readonly order: string;
  /** `text` is typed by the person, if it is asked for. */
  readonly event: GroupDecision;
  readonly needs: Needs | undefined;
}

/** A plan's run, for its screen. */
export interface PlanPort {
  view(): PlanView;
  /** Called whenever `view()` would differ, but not when only time passes. Returns the unsubscribe. */
  subscribe(listener: () => void): () => void;
  /** Rejects with a LifeboatError, changing nothing, if the answer does not fit. */
  answerPlan(answer: Answer): Promise<void>;
  /** Answers the run of a step; rejects likewise. */
  answer(runId: string, answer: Answer): Promise<void>;
  /** `order` is for the record. Rejects likewise. */
  decide(event: GroupDecision, order: string): Promise<void>;
  /** Tries again, for a run that waits for credentials. */
  wake(runId: string): void;
  /** Lines on record, newest last. */
  newest(runId: string): Promise<readonly LogLine[]>;
  /** Leaves the plan and everything under way, resumable. */
  leave(why?: string): Promise<void>;
  /** Rejects with what broke it. */
  readonly ended: Promise<RunEnd>;
}
