import * as z from 'zod';
import type { Credentials, LabInstance } from '../instance.ts';
import { parseOrRefuse, Refusal } from './endpoint.ts';

/* Bind and unbind: routes of the lab. Only they and the platform's API show a database password. */

const Wish = z.object({ app: z.string().min(1).max(200) });

/** The password is shown only here. */
export async function createBinding(instance: LabInstance, body: unknown) {
  const { app } = parseOrRefuse(Wish, body);
  const { binding, credentials } = await reached(instance.bindings.create(app));
  return { id: binding.id, app, credentials: tellCredentials(credentials) };
}

/** As an application gets them, password included. */
export function tellCredentials({ user, password, database, socketFolder }: Credentials) {
  const secret = password.reveal();
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(secret)}`;
  return {
    uri: `postgresql://${login}@/${encodeURIComponent(database)}?host=${encodeURIComponent(socketFolder)}`,
    username: user,
    password: secret,
    host: socketFolder,
    database,
  };
}

/** Oldest first, without passwords. */
export function listBindings(instance: LabInstance) {
  return instance.bindings.all.map(({ id, app, user, createdAt }) => ({
    id,
    app,
    username: user,
    created_at: createdAt.toISOString(),
  }));
}

/** Drops the user and cuts its connections. */
export async function deleteBinding(instance: LabInstance, id: string) {
  if (!(await reached(instance.bindings.delete(id)))) {
    throw new Refusal(404, 'bindingNotFound', 'the binding does not exist');
  }
  return { id };
}

async function reached<T>(work: Promise<T>): Promise<T> {
  return await work.catch(() => {
    throw new Refusal(502, 'upstreamError', 'the database does not answer');
  });
}
