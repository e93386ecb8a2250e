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
  readonly prompt: string;
  readonly order: string;
  readonly instance: string;
  /** The instance that is changed, whose name is typed. */
  readonly target: string;
  readonly url: string;
  /** The event of the confirmation. */
  readonly event: string;
  readonly facts: readonly string[];
  readonly overrides: readonly string[];
  readonly calls: readonly string[];
}

/** SHA-256, hex, over the canonical JSON (RFC 8785) of the plan. */
export function planHash(plan: Plan): string {
  return hash('sha256', canonicalize(plan) ?? '', 'hex');
}
