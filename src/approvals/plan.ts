import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/**
 * The subject of an approval: the same plan has the same hash, and any difference needs a separate approval.
 */
export interface Plan {
  readonly run: string;
  readonly runbook: string;
  readonly version: string;
  readonly mode: string;
  readonly state: string;
  /** The question of the confirmation, with what has changed since an earlier one. */
  readonly prompt: string;
  /** What is confirmed, as an order: `restore backup 3 into orders`. */
  readonly order: string;
  readonly instance: string;
  /** The instance that is changed: its name is typed at the confirmation. */
  readonly target: string;
  /** Where the target is, as the config names it. */
  readonly url: string;
  readonly event: string;
  readonly facts: readonly string[];
  /** Findings that were passed over and steps that were skipped, with their reasons. */
  readonly overrides: readonly string[];
  /** The calls that are still to be made, in order. */
  readonly calls: readonly string[];
}

/** SHA-256, hex, over the canonical JSON (RFC 8785) of the plan. */
export function planHash(plan: Plan): string {
  return hash('sha256', canonicalize(plan) ?? '', 'hex');
}
