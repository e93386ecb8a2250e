import type { LaneFacts, PlanEvent } from '../../machines/parts/plan-events.ts';
import type { Answer, Question } from '../../machines/parts/question.ts';
import type { Failure } from '../base/failure.ts';
import type { Child, Start } from './schedule.ts';

/** Driven by this process. */
export interface DrivenChild {
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  state(): ChildSnapshot;
  subscribe(listener: () => void): () => void;
  answer(answer: Answer): Promise<void>;
  /** Tries again, if it waits for credentials. */
  wake(): void;
  detach(why: string): Promise<void>;
  /** Resolves when it is over, or was left. */
  readonly ended: Promise<ChildEnd>;
}

export interface ChildEnd {
  /** Undefined if this process has left it. */
  readonly result: 'done' | 'failed' | undefined;
  /** Milliseconds since 1970. */
  readonly endedMs: number;
  /** Why it failed. */
  readonly cause: string | undefined;
}

/** `absence`: a call never happened, such as after the death of the process that sent it; nothing failed. */
export type Trouble = 'failure' | 'doubt' | 'absence';

/** As the conductor sees it. */
export interface ChildSnapshot {
  readonly question: Question | undefined;
  readonly where: string | undefined;
  /** Start of that state, in milliseconds since 1970. */
  readonly sinceMs: number | undefined;
  /** The subject of its question, if that is no step on its way. */
  readonly asksAbout: Trouble | undefined;
  /** While it waits for credentials. */
  readonly paused: Failure | undefined;
  /** Known against its confirmation: the plan then does not answer it. */
  readonly warning: string | undefined;
  /** A name was typed in it before. */
  readonly hasConfirmed: boolean;
  /** By this process. `since`: RFC 3339. */
  readonly activity: { readonly verb: string; readonly since: string } | undefined;
  /** The target as it is now; undefined if there is none yet. */
  readonly targetNow: unknown;
}

/** By the journal. */
export interface RecordedChild extends Start {
  readonly runId: string;
  readonly runbook: string;
  readonly startedAt: string;
  readonly result?: 'done' | 'failed' | undefined;
  readonly simulated?: true | undefined;
  readonly endedAt?: string | undefined;
  readonly isLeft: boolean;
  readonly where?: string | undefined;
  /** Why it failed. */
  readonly cause?: string | undefined;
}

export interface ConductorPort {
  readonly plan: {
    snapshot(): PlanSnapshot;
    /** `label`: for the record of a decision; `wish`: its number, if it is a wish. */
    tell(event: PlanEvent, label?: string, wish?: number): Promise<void>;
    /** Records why a wish does not fit. */
    refuse(wish: number, why: string): Promise<void>;
    subscribe(listener: () => void): () => void;
    readonly ended: Promise<unknown>;
    /** `awaits`: nothing goes on before a person acts. */
    detach(why: string, awaits?: 'person'): Promise<void>;
  };
  /** On record. */
  children(): Promise<readonly RecordedChild[]>;
  /** By its run; undefined if it never began. */
  child(runId: string): Promise<RecordedChild | undefined>;
  /** Undefined if the record does not have it. */
  recorded(start: Start): Promise<RecordedChild | undefined>;
  /** For an open child; undefined if its runbook is not known here. */
  onRecord(runId: string): Promise<ChildSnapshot | undefined>;
  /** Begins the run of a step, once however often it is called, and takes it up. */
  begin(start: Start): Promise<DrivenChild>;
  /** Every instance and target. Sends only GETs. */
  evaluate(): Promise<readonly LaneFacts[]>;
  /** Since the confirmation, in words; may be empty. */
  differences(seen: string, now: unknown): readonly string[];
  now(): number;
}

export interface PlanSnapshot {
  readonly value: never;
  readonly context: unknown;
  readonly status: string;
  readonly hasQuestion: boolean;
}

/** For screens and lists. */
export interface ShownChild extends Child {
  readonly runId: string | undefined;
  readonly where: string | undefined;
  /** Start of its state, in milliseconds since 1970. */
  readonly sinceMs: number | undefined;
  readonly question: Question | undefined;
  /** An answer waits for a free slot. */
  readonly isAnswered: boolean;
  /** Why it waits, takes longer than it may, could not be begun, or failed. */
  readonly problem: string | undefined;
  /** It waits for credentials. */
  readonly isPaused: boolean;
  readonly isInDoubt: boolean;
  /** The plan has left it, resumable by itself. */
  readonly isLeft: boolean;
}
