import type { Answer } from '../bench-kit/foreign/call.ts';
import type { ForeignOptions } from '../bench-kit/foreign/options.ts';

type Json = Readonly<Record<string, unknown>>;

/*
 * A service that says something hostile wherever its document lets it say anything: in every field of its
 * lists, in its errors, in its headers. What it needs to be understood at all (ids, the rows that are real)
 * stays.
 */

/**
 * Adds a row for each text to every list, with the text in each of its fields, and puts texts where the
 * document has names.
 */
export function hostileWords(texts: readonly string[]): NonNullable<ForeignOptions['twist']> {
  let next = 0;
  const word = () => texts[next++ % texts.length] ?? '';
  return ({ method, path }, answer) => {
    if (!('body' in answer) || answer.status >= 300) return answer;
    const { body } = answer;
    const made = (more: unknown) => ({ ...answer, body: more });
    if (Array.isArray(body) && path.endsWith('/backups')) return made([...body, ...texts.map(backup)]);
    if (Array.isArray(body) && path.endsWith('/restores')) return made([...body, ...texts.map(restore)]);
    if (Array.isArray(body) && path.endsWith('/metrics'))
      return made([...body, ...texts.flatMap((text) => [text, `${text} 1 1700000000`, `a.0.${text} x y`])]);
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return answer;
    if ('created_at' in body) return made({ ...body, ...overview(texts, word) });
    return made({
      ...body,
      message: word(),
      [word()]: word(),
      ...(method === 'GET' ? said(body, word) : {}),
    });
  };
}

/** Says a text in each field and header of every error, whatever is asked. */
export function hostileErrors(text: string, status: number): NonNullable<ForeignOptions['twist']> {
  const body = { error: text, description: text, message: text, msg: text, status, [text]: [text] };
  return () => ({ status, bytes: Buffer.from(JSON.stringify(body)), headers: headersOf(text) });
}

/**
 * Headers with the text, as far as a header can hold it: the bytes of C1 are among what HTTP lets through.
 */
export function headersOf(text: string): Record<string, string> {
  const value = text.replace(/[^\x20-\x7e\x80-\xff]/gu, '').slice(0, 300);
  return {
    'content-type': 'application/json',
    'retry-after': value,
    'x-request-id': value,
    'x-vcap-request-id': value,
    'www-authenticate': value,
    'content-disposition': `attachment; filename="../../${value}"; filename*=UTF-8''..%2f${encodeURIComponent(value)}`,
  };
}

/** An answer as it is, with headers that want to be something. */
export function withHeaders(answer: Answer, headers: Record<string, string>): Answer {
  if ('bytes' in answer) return { ...answer, headers: { ...answer.headers, ...headers } };
  return { status: answer.status, bytes: Buffer.from(JSON.stringify(answer.body)), headers };
}

function backup(text: string, at: number): Json {
  const [size, downloadable] = [7, true];
  const times = { triggered_at: text, started_at: text, finished_at: text };
  const status = at % 2 === 0 ? 'done' : text;
  return { id: at + 1, backup_id: text, status, size, downloadable, ...times, [text]: text };
}

function restore(text: string, at: number): Json {
  const times = { triggered_at: text, finished_at: text };
  return {
    id: at + 1,
    backup_id: 3,
    status: text,
    metadata: { restored_from: text, [text]: text },
    ...times,
  };
}

function overview(texts: readonly string[], word: () => string): Json {
  return {
    name: word(),
    tenant_name: word(),
    subtenant_name: word(),
    tenant_id: word(),
    subtenant_id: word(),
    plan_id: word(),
    available_updates: texts.map((text) => ({ name: text, type: text, version: text })),
    urls: texts.map((text) => ({ display_name: text, id: text, link: text })),
    [word()]: word(),
  };
}

/** What the range and the settings say in words. */
function said(body: object, word: () => string): Json {
  if ('start_time' in body) return { start_time: word(), end_time: word() };
  return 'backup_type' in body ? { backup_type: word() } : {};
}
