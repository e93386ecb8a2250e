import type { LaneFacts, PlanEvent } from '../../machines/parts/plan-events.ts';
import type { Answer, Question } from '../../machines/parts/question.ts';
import type { Failure } from '../base/failure.ts';
import type { Child, Start } from './schedule.ts';

/* What a conductor acts with, and what it shows. */

/** A run of a step that this process drives. */
export interface DrivenChild {
  readonly runId: string;
  /** When it began, in milliseconds since 1970. */
  readonly startedMs: number;
  state(): ChildSnapshot;
  subscribe(listener: () => void): () => void;
  answer(answer: Answer): Promise<void>;
  /** Tries again what waits for credentials. */
  wake(): void;
  detach(why: string): Promise<void>;
  /** Resolves when this process is done with it: over, or left. */
  readonly ended: Promise<ChildEnd>;
}

/** How the run of a step ended. */
export interface ChildEnd {
  /** Undefined for one that this process has left. */
  readonly result: 'done' | 'failed' | undefined;
  /** In milliseconds since 1970. */
  readonly endedMs: number;
  /** Why it failed, where something did. */
  readonly cause: string | undefined;
}

/**
 * What a child asks about: a failure; a call in doubt; or the absence of a call, such as after the death of
 * the process that sent it: nothing has happened, and nothing failed.
 */
export type Trouble = 'failure' | 'doubt' | 'absence';

/** A child as the conductor looks at it. */
export interface ChildSnapshot {
  readonly question: Question | undefined;
  /** The title of its state. */
  readonly where: string | undefined;
  /** When it came into that state, in milliseconds since 1970. */
  readonly sinceMs: number | undefined;
  /** What its question is about, where it is no step of its way. */
  readonly asksAbout: Trouble | undefined;
  /** Set while it waits for credentials. */
  readonly paused: Failure | undefined;
  /** What is known against its confirmation: then no plan answers it. */
  readonly warning: string | undefined;
  /** Whether a name was typed in it before. */
  readonly hasConfirmed: boolean;
  /** What this process does for it now. `since`: RFC 3339. */
  readonly activity: { readonly verb: string; readonly since: string } | undefined;
  /** How its target differs from what was confirmed; undefined where there is no target yet. */
  readonly targetNow: unknown;
}

/** A child as the journal has it. */
export interface RecordedChild extends Start {
  readonly runId: string;
  readonly runbook: string;
  readonly startedAt: string;
  readonly result?: 'done' | 'failed' | undefined;
  readonly simulated?: true | undefined;
  readonly endedAt?: string | undefined;
  readonly isLeft: boolean;
  readonly where?: string | undefined;
  /** Why it failed, where something did. */
  readonly cause?: string | undefined;
}

/** What the conductor acts with. */
export interface ConductorPort {
  /** The run of the plan. */
  readonly plan: {
    snapshot(): PlanSnapshot;
    /** `label`: what the record says of a decision; `wish`: the number of the wish that it is. */
    tell(event: PlanEvent, label?: string, wish?: number): Promise<void>;
    /** Puts on record why a wish does not fit. */
    refuse(wish: number, why: string): Promise<void>;
    subscribe(listener: () => void): () => void;
    readonly ended: Promise<unknown>;
    /** `awaits`: whether nothing goes on before a person acts. */
    detach(why: string, awaits?: 'person'): Promise<void>;
  };
  /** The children on record. */
  children(): Promise<readonly RecordedChild[]>;
  /** One of them by its run; undefined if it never began. */
  child(runId: string): Promise<RecordedChild | undefined>;
  /** The child of a step, if the record has it. */
  recorded(start: Start): Promise<RecordedChild | undefined>;
  /** What the record has of an open child; undefined where its runbook is not known here. */
  onRecord(runId: string): Promise<ChildSnapshot | undefined>;
  /** Begins the run of a step, once however often it is called, and takes it up. */
  begin(start: Start): Promise<DrivenChild>;
  /** Looks at every instance and target. Sends only GETs. */
  evaluate(): Promise<readonly LaneFacts[]>;
  /** How a target differs from what was confirmed, in words. Empty if it does not. */
  differences(seen: string, now: unknown): readonly string[];
  now(): number;
}

export interface PlanSnapshot {
  readonly value: never;
  readonly context: unknown;
  readonly status: string;
  readonly hasQuestion: boolean;
}

/** A child as screens and lists show it. */
export interface ShownChild extends Child {
  readonly runId: string | undefined;
  readonly where: string | undefined;
  /** When it came into its state, in milliseconds since 1970. */
  readonly sinceMs: number | undefined;
  readonly question: Question | undefined;
  /** Whether an answer to its question waits for a free slot. */
  readonly isAnswered: boolean;
  /** Why it waits, takes longer than it may, could not be begun, or failed. */
  readonly problem: string | undefined;
  /** Whether it waits for credentials. */
  readonly isPaused: boolean;
  readonly isInDoubt: boolean;
  /** Whether the plan has left it, resumable by itself. */
  readonly isLeft: boolean;
}
