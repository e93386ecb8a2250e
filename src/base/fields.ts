import * as z from 'zod';

/*
 * Fields of many schemas, with the words for the published JSON Schemas. Only files with nothing but schemas
 * load this one: building them takes time that no other file should cost.
 */

/** RFC 3339, UTC. */
export const time = z.string().describe('a time, RFC 3339');
export const seconds = z.number().describe('seconds, to the millisecond');
export const bytes = z.int().nonnegative().describe('bytes');
export const sha256 = z.string().describe('SHA-256, 64 hex digits');
export const instance = z.string().describe('an instance, as lifeboat.yaml names it');
export const runId = z.string().describe('the id of a run');
export const mode = z.enum(['LIVE', 'REHEARSAL']);
export const fingerprint = z.string().describe('the fingerprint of a key, of one key store');

/** NIST SP 800-57 part 1, section 7; `unknown` where the record cannot say. */
export const custodyState = z
  .enum(['pre-activation', 'active', 'deactivated', 'compromised', 'destroyed', 'unknown'])
  .describe('the state of the key in the words of NIST SP 800-57; unknown: set by others, or not known');
