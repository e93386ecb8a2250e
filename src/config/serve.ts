import * as z from 'zod';
import { ipNetwork } from '../base/ip-network.ts';
import { readListening } from '../base/listening.ts';

const Host = z.string().regex(/^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:]+\])(?::\d{1,5})?$/u, {
  error: 'a host is a name in lower case as a browser sends it, with its port unless that is the usual one',
});

/** Headers that name a peer or a connection cannot name a person as well. */
const HeaderName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/u, 'the name of a header has letters, digits and dashes')
  .refine(
    (name) => !/^(?:host|connection|content-|transfer-|forwarded$|x-forwarded-for$|via$)/iu.test(name),
    {
      error: 'this header says something about the connection: name the one that says who the person is',
    },
  );

const Jwt = z
  .strictObject({
    header: HeaderName.describe('the header with the token, such as X-Pomerium-Jwt-Assertion'),
    jwksUrl: z
      .url({ protocol: /^https$/u, error: 'an address of keys begins with https://' })
      .optional()
      .describe("where the proxy's public keys are, https"),
    jwksFile: z
      .string()
      .min(1)
      .optional()
      .describe('or the file with them; its path is relative to this file'),
    ca: z
      .string()
      .min(1)
      .optional()
      .describe(
        'PEM file with further certificate authorities for jwksUrl; its path is relative to this file',
      ),
    issuer: z.string().min(1).describe('what `iss` of the token has to be'),
    audience: z.string().min(1).describe('what `aud` of the token has to be or to contain'),
  })
  .refine(({ jwksUrl, jwksFile }) => (jwksUrl === undefined) !== (jwksFile === undefined), {
    error: 'the keys come from one place: jwksUrl or jwksFile',
  })
  .refine(({ jwksUrl, ca }) => ca === undefined || jwksUrl !== undefined, {
    error: 'ca is for jwksUrl: a file of keys needs none',
  });

/** Wider than any private network (RFC 1918: /8; RFC 4193: a /48 for each site). */
function isNearlyEveryone(text: string): boolean {
  const [address = '', bits] = text.split('/');
  return bits !== undefined && Number(bits) < (address.includes(':') ? 32 : 8);
}

const Identity = z.union(
  [z.strictObject({ header: HeaderName }), z.strictObject({ jwt: Jwt })],
  'an identity is {header: NAME} or {jwt: {header, jwksUrl or jwksFile, issuer, audience}}',
);

export const ServeConfig = z
  .strictObject({
    listen: z
      .string()
      .default('127.0.0.1:8437')
      .superRefine((text, { addIssue }) => {
        if (readListening(text) === undefined) addIssue('this is neither ADDRESS:PORT nor unix:/PATH');
      })
      .describe('ADDRESS:PORT, or unix:/PATH'),
    hosts: z
      .array(Host)
      .default([])
      .describe('the names by which browsers may ask for it, besides this machine'),
    trustedProxies: z
      .array(
        z
          .string()
          .refine((text) => text === 'unix' || ipNetwork(text) !== undefined, {
            error: 'a proxy is an address, a network such as 10.0.0.0/28, or unix for the socket',
          })
          .refine((text) => !isNearlyEveryone(text), {
            error: 'this network is nearly everyone, who could then say who they are: name the proxies',
          }),
      )
      .default([])
      .describe('the only peers that may ask once an identity is demanded'),
    identity: Identity.optional().describe(
      'how a proxy says who looks: {header} that it sets, or better {jwt} that it signs',
    ),
    names: z
      .enum(['shown', 'masked'])
      .default('shown')
      .describe('masked: people have numbers in place of names'),
  })
  .superRefine(({ identity, trustedProxies }, { addIssue }) => {
    if (identity !== undefined && trustedProxies.length === 0)
      addIssue({
        code: 'custom',
        path: ['trustedProxies'],
        message: 'an identity is believed from a proxy that is named alone: name its address',
      });
    if (identity === undefined && trustedProxies.length > 0)
      addIssue({
        code: 'custom',
        path: ['identity'],
        message: 'a proxy that is trusted has to say who looks: add {header} or {jwt}',
      });
  });
export type ServeConfig = z.infer<typeof ServeConfig>;
