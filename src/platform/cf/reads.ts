import type { Capi } from '../capi/capi.ts';
import { Errors } from '../capi/schemas.ts';
import { badAnswer, refusalOf } from '../problem.ts';
import type { CfTool } from './tool.ts';

const READ_MS = 60_000;
const STATUS = /^HTTP\/[\d.]+ (\d{3})/u;

/** Reads the v3 API through `cf curl -i`, which answers with exit 0 whatever the status is. */
export function capiByCf(tool: CfTool): Capi {
  return {
    get: async (path, schema, signal) => {
      const { out } = await tool.must('reading from the platform', ['curl', '-i', path], {
        signal,
        timeoutMs: READ_MS,
      });
      const { status, date, body } = split(out);
      const json = parse(body);
      const errors = Errors.safeParse(json).data?.errors;
      if (errors !== undefined || status >= 300) throw refusalOf(statusOf(status, errors), errors ?? []);
      const parsed = schema.safeParse(json);
      if (!parsed.success) throw badAnswer("the platform's answer has an unexpected shape");
      return { value: parsed.data, at: date };
    },
  };
}

/** Head and body of what the tool printed; a tool that leaves the head out is taken for a success. */
function split(out: string): { status: number; date: Date | undefined; body: string } {
  const status = STATUS.exec(out)?.[1];
  if (status === undefined) return { status: 200, date: undefined, body: out };
  const [head = '', ...rest] = out.split(/\r?\n\r?\n/u);
  const named = /^date:\s*(.+?)\r?$/imu.exec(head)?.[1];
  const date = new Date(named ?? Number.NaN);
  return {
    status: Number(status),
    date: Number.isNaN(date.getTime()) ? undefined : date,
    body: rest.join('\n\n'),
  };
}

/** Cloud Foundry's own numbers, where the status is not reported. */
function statusOf(
  status: number,
  errors: readonly { readonly code?: number | null | undefined }[] | undefined,
): number {
  if (status >= 300) return status;
  const code = errors?.[0]?.code ?? 0;
  if (code === 10010 || code === 10000) return 404;
  if (code === 10003) return 403;
  if (code === 1000 || code === 10002) return 401;
  if (code === 10013) return 429;
  return 422;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
