import type { LabContext } from '../http/authorise.ts';
import type { Platform } from './platform.ts';

export interface CfRequest {
  readonly platform: Platform;
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly context: LabContext;
  /** JSON; `undefined` without one. */
  readonly body: unknown;
  /** A parameter of the path. */
  param(name: string): string;
}

export interface CfReply {
  /** 200 by default. */
  readonly status?: 200 | 201 | 202 | 204;
  readonly json?: object;
  readonly location?: string;
}

/** One endpoint of the platform's API. It throws a `CfError` for what it does not do. */
export interface CfRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Default: `read` for GET, `write` for all others. */
  readonly right?: 'read' | 'write';
  answer(request: CfRequest): CfReply | Promise<CfReply>;
}
