/**
 * What is checked of an instance to say whether it could be recovered now. In this order: the first check
 * that fails is the reason of a verdict.
 */
export const CHECK_IDS = [
  'reachable',
  'token',
  'manage',
  'store',
  'calls',
  'newest-backup',
  'key-opens',
  'key-held',
  'proven-backup',
  'escrow',
  'recovery-card',
  'pitr',
  'target',
  'apps',
  'restored',
  'waivers',
  'evaluated',
] as const;

export type CheckId = (typeof CHECK_IDS)[number];

/** What is checked of a plan, beside its instances. In this order, too. */
export const PLAN_CHECK_IDS = ['file', 'instances', 'targets', 'time', 'people', 'rehearsed'] as const;

export type PlanCheckId = (typeof PLAN_CHECK_IDS)[number];
