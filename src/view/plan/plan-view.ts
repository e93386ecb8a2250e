import type { GroupDecision, GroupState, HeldWhy } from '../../../machines/parts/plan-events.ts';
import type { Answer } from '../../../machines/parts/question.ts';
import type { LaneState } from '../../plans/schedule.ts';
import type { RunEnd } from '../run-port.ts';
import type { WatchedView } from '../run-record.ts';
import type { LogLine, Tone } from '../run-view.ts';

/** The run of a plan as every renderer shows it: plain data, in words. */
export interface PlanView {
  readonly runId: string;
  readonly plan: string;
  readonly mode: 'LIVE' | 'REHEARSAL';
  /** What it does now, in words. */
  readonly state: string;
  readonly elapsedSeconds: number;
  /** How long the recovery may take; undefined where the plan does not say. */
  readonly rtoSeconds: number | undefined;
  readonly outcome: PlanOutcome | undefined;
  readonly groups: readonly GroupView[];
  /** What waits for a person: the plan's own question first, then failures, then the most asked. */
  readonly asks: readonly AskView[];
  /** The moment that it shows, in milliseconds since 1970: the end of a plan that is over. */
  readonly nowMs: number;
  /** Set for who only looks on: another process conducts it, or nobody does. */
  readonly watched?: WatchedView;
}

/** How the run of a plan ended. */
export interface PlanOutcome {
  readonly title: string;
  readonly tone: Tone;
  readonly endedMs: number;
}

export interface GroupView {
  readonly id: string;
  readonly about: string | undefined;
  readonly state: GroupState;
  /** The state in a few words. */
  readonly words: string;
  readonly tone: Tone;
  /** Whether the phase of the plan that the group belongs to has begun and is not over. */
  readonly isNow: boolean;
  /** Why it waits for a person, while it does. */
  readonly held: { readonly why: HeldWhy; readonly lanes: readonly string[] } | undefined;
  /** The wave that has begun, of how many; 0 before the first. */
  readonly wave: { readonly at: number; readonly of: number };
  readonly counts: LaneCounts;
  /** How many failures stop it, in words; undefined if none do, or if it is over. */
  readonly stopRule: string | undefined;
  readonly steps: readonly { readonly id: string; readonly words: string }[];
  readonly lanes: readonly LaneView[];
}

/** How many lanes of a group stand where. Each lane counts once. */
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
  /** The name for people; a group without instances has one lane without a name. */
  readonly shown: string;
  readonly target: string | undefined;
  readonly is: LaneState['is'] | 'answered' | 'left';
  /** The state in one or two words. */
  readonly state: string;
  readonly tone: Tone;
  /** What it does, asks, or waits for. */
  readonly words: string;
  /** The step that it is at, counted from 1; undefined before the first and after the last. */
  readonly at: number | undefined;
  /** When it came into its state, in milliseconds since 1970, if that is known. */
  readonly sinceMs: number | undefined;
  /** One for each step of the group. */
  readonly steps: readonly LaneStep[];
  /** Whether the run of its step is open. */
  readonly isOpen: boolean;
  readonly runId: string | undefined;
  /** The key of what it asks; undefined if it asks nothing. */
  readonly ask: string | undefined;
}

/** A step as it stands on one lane. */
export interface LaneStep {
  readonly is: 'done' | 'failed' | 'passed' | 'open' | 'left' | 'left-out' | 'ahead';
  readonly runId: string | undefined;
  /** Why it was passed, or which attempt this is; empty if there is nothing to say. */
  readonly note: string;
}

/** What waits for a person, once, with everyone who asks it. */
export interface AskView {
  readonly key: string;
  readonly of:
    | { readonly is: 'plan' }
    | { readonly is: 'group'; readonly group: string }
    | { readonly is: 'lanes'; readonly group: string; readonly step: string };
  readonly tone: Tone;
  /** What is asked; names that differ are NAME and TARGET. */
  readonly prompt: string;
  /** What is at stake and what else is known, one fact a line. */
  readonly facts: readonly string[];
  readonly options: readonly AskOption[];
  /** Who asks it; empty for a question of the plan or a group. */
  readonly lanes: readonly AskingLane[];
}

export interface AskingLane {
  readonly key: string;
  readonly shown: string;
  readonly runId: string | undefined;
  /** What this lane itself asks. */
  readonly prompt: string;
}

export interface AskOption {
  readonly key: string;
  readonly label: string;
  readonly hint: string | undefined;
  readonly isRecommended: boolean;
  /** Why it cannot be chosen now. */
  readonly disabled: string | undefined;
  readonly needs: Needs | undefined;
  readonly act: Act;
}

/** What a person has to type for an answer or a decision. */
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

/** What an option does when it is chosen. */
export type Act =
  /** `id`: the follow-up that is meant. */
  | { readonly do: 'answer'; readonly event: string; readonly id: string | undefined }
  | { readonly do: 'decide'; readonly decision: Decision }
  /** Tries again what waits for credentials. */
  | { readonly do: 'wake' };

/** A decision about a group or a lane, with what it still needs from a person. */
export interface Decision {
  /** For the record, as an order: `take a out of data`. */
  readonly order: string;
  /** The event; `text` is what the person typed, where that is asked for. */
  readonly event: GroupDecision;
  readonly needs: Needs | undefined;
}

/** The run of a plan, as its screen sees it: look, listen, answer, decide, leave. */
export interface PlanPort {
  view(): PlanView;
  /** Calls back whenever `view()` would differ, not for the mere passing of time. Gives the unsubscribe. */
  subscribe(listener: () => void): () => void;
  /** Answers the plan's own question. Rejects with a LifeboatError, changing nothing, if it does not fit. */
  answerPlan(answer: Answer): Promise<void>;
  /** Answers the question of the run of a step; likewise. */
  answer(runId: string, answer: Answer): Promise<void>;
  /** A decision about a group or a lane; `order` is for the record. Likewise. */
  decide(event: GroupDecision, order: string): Promise<void>;
  /** Has the run of a step try again what waits for credentials. */
  wake(runId: string): void;
  /** The newest lines of a run on record, the newest last. */
  newest(runId: string): Promise<readonly LogLine[]>;
  /** Leaves the plan and everything under way, resumable. */
  leave(why?: string): Promise<void>;
  /** Rejects with what broke it. */
  readonly ended: Promise<RunEnd>;
}
