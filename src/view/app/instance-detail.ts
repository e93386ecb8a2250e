import type { Part } from '../fleet/fleet-facts.ts';

/** One instance, as far as it answers; each part is answered, or fails, by itself. Every text is printable. */
export interface InstanceDetail {
  readonly name: string;
  /** Overview, objectives, backup configuration, point in time. */
  readonly groups: readonly DetailGroup[];
  readonly metrics: Part<InstanceMetrics>;
  /** The newest first. */
  readonly restores: Part<readonly RestoreRow[]>;
}

/** Facts under a title, each a label and its value. */
export interface DetailGroup {
  readonly title: string;
  readonly rows: Part<readonly (readonly [label: string, value: string])[]>;
}

export interface InstanceMetrics {
  /** Each disk against its parachute, in words. */
  readonly disks: readonly { readonly text: string; readonly isOpen: boolean }[];
  /** By path, in the order in which the service names them. */
  readonly series: readonly MetricCourse[];
}

/** The course of one measurement, the oldest value first. */
export interface MetricCourse {
  readonly path: string;
  readonly values: readonly number[];
  /** When the newest was measured; RFC 3339. */
  readonly at: string;
}

/** A restore as the service lists it. Times RFC 3339. */
export interface RestoreRow {
  readonly id: number;
  readonly backupId?: number | undefined;
  readonly status: string;
  /** To which moment the data was brought back. */
  readonly restoredFrom?: string | undefined;
  readonly triggeredAt?: string | undefined;
  readonly finishedAt?: string | undefined;
}
