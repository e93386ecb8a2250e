/** Checks whether an instance could be recovered, in order: the first failure is the verdict's reason. */
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

/** The checks of a plan besides its instances, in order. */
export const PLAN_CHECK_IDS = ['file', 'instances', 'targets', 'time', 'people', 'rehearsed'] as const;

export type PlanCheckId = (typeof PLAN_CHECK_IDS)[number];
