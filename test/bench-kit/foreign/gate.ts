import { randomBytes } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Heard } from './call.ts';
import type { ForeignOptions } from './options.ts';

export type Right = 'all' | 'read' | 'none';

/** Who may come in: tokens (section 5.1), and the sessions of the dashboard address (section 5.2). */
export interface Gate {
  /** What the request's token allows. A scheme word before it is neither needed nor looked at. */
  rightOf(heard: Heard): Right;
  /**
   * The headers of a redirect to the same place, which begins a session; undefined when the request has one.
   */
  welcome(heard: Heard): OutgoingHttpHeaders | undefined;
  /** From now on only this token is accepted. */
  acceptOnly(token: string): void;
  /** Forgets every session: the next request begins a new one. */
  endSessions(): void;
}

export function openGate({ token, readOnlyToken }: Pick<ForeignOptions, 'token' | 'readOnlyToken'>): Gate {
  let rights = new Map<string, Right>([[token, 'all']]);
  if (readOnlyToken !== undefined) rights.set(readOnlyToken, 'read');
  const sessions = new Set<string>();
  return {
    rightOf: ({ headers }) => rights.get(headers.authorization?.split(' ').at(-1) ?? '') ?? 'none',
    welcome: ({ headers, path, query }) => {
      const given = (headers.cookie ?? '').split(/; */).map((pair) => pair.split('='));
      if (given.some(([name, value = '']) => name === COOKIE && sessions.has(value))) return undefined;
      const session = `s%3A${randomBytes(12).toString('hex')}`;
      sessions.add(session);
      return {
        location: query.size === 0 ? path : `${path}?${query}`,
        'set-cookie': [`lang=en; Path=/`, `${COOKIE}=${session}; Path=/; HttpOnly; SameSite=Lax`],
      };
    },
    acceptOnly: (other) => {
      rights = new Map([[other, 'all']]);
    },
    endSessions: () => sessions.clear(),
  };
}

const COOKIE = 'dashboard.sid';
