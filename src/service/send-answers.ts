import { z } from 'zod';
import { type Untrusted, untrust } from '../base/text.ts';
import type { UpdateSetting } from './client.ts';

/*
 * What is read out of the success bodies of mutating calls. A body that is not as described still is a
 * success: what cannot be read is undefined. `clean` blanks the secrets of the call, should the service echo
 * them.
 */

type Clean = (text: string) => string;

const Id = z.int().nonnegative();
const Setting = z.object({ type: z.string(), allowed: z.boolean() });

/** An id of a backup or a restore. */
export function readId(json: unknown, field: 'id' | 'restore_id'): number | undefined {
  return pick(Id, json, field);
}

/** A text of the service, stored raw and storable everywhere. */
export function readText(json: unknown, field: string, clean: Clean): Untrusted | undefined {
  const text = pick(z.string(), json, field);
  return text === undefined ? undefined : untrust(clean(text).toWellFormed());
}

/** What endpoints 3 and 9 tell in words, and what endpoints 13 to 15 may. */
export function readMessage(json: unknown, clean: Clean): { readonly message: Untrusted | undefined } {
  return { message: readText(json, 'message', clean) };
}

/** Endpoint 3, and creating a backup in V0 (section 4.4). */
export function readCreated(json: unknown, clean: Clean) {
  return { id: readId(json, 'id'), ...readMessage(json, clean) };
}

/** Section 4.2 item 6. */
export function readSetting(json: unknown, clean: Clean): { readonly setting: UpdateSetting | undefined } {
  const setting = pick(Setting, json, 'allowed_update_time');
  return {
    setting:
      setting === undefined ? undefined : { ...setting, type: untrust(clean(setting.type).toWellFormed()) },
  };
}

function pick<T>(schema: z.ZodType<T>, json: unknown, field: string): T | undefined {
  const value = typeof json === 'object' && json !== null ? Reflect.get(json, field) : undefined;
  return schema.safeParse(value).data;
}
