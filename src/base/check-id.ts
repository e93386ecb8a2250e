/**
 * What is checked of an instance to say whether it could be recovered now. In this order: the first check
 * that fails is the reason of a verdict.
 */
export const CHECK_IDS = [
  'reachable',
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
