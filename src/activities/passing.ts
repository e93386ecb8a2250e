/** For so long a service that cannot be asked, or says something that makes no sense, is only waited for. */
export const PATIENCE_MS = 120_000;

/** What may pass by itself: out of reach, too busy, or a page and a torn answer from somebody in between. */
export const PASSING: ReadonlySet<string> = new Set([
  'service.unreachable',
  'service.timeout',
  'service.reset',
  'service.error',
  'service.busy',
  // Revision 61 lists 409 for asking as well (service-api.md section 4.2 item 2).
  'service.conflict',
  'service.bad-answer',
  // A login page comes as a redirect as often as it comes in place of an answer.
  'service.redirect',
]);
