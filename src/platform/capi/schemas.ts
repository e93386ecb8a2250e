import * as z from 'zod';

/*
 * What is read of Cloud Foundry's v3 API; other fields are dropped. State words are open, since a platform
 * may have more. Every text is well formed for the journal, but still hostile.
 */

const Text = z.string().transform((text) => text.slice(0, 1_000).toWellFormed());
/** Ends up in addresses and in evidence. */
const Guid = z.string().regex(/^[\w.-]{1,200}$/u);
const ToOne = z.object({ data: z.object({ guid: Guid }).nullish() }).nullish();
const Metadata = z.object({ labels: z.record(z.string(), z.string().nullable()).nullish() }).nullish();

export const Pagination = z.object({
  total_pages: z.number().nullish(),
  next: z.object({ href: z.string().nullish() }).nullish(),
});

export const ServiceInstance = z.object({
  guid: Guid,
  name: Text,
  dashboard_url: z.string().nullish(),
  relationships: z.object({ space: ToOne, service_plan: ToOne }).nullish(),
});
export type ServiceInstance = z.infer<typeof ServiceInstance>;

export const Binding = z.object({
  guid: Guid,
  type: z.string().default('app'),
  name: Text.nullish(),
  created_at: z.string().max(60).nullish(),
  last_operation: z
    .object({ type: z.string().nullish(), state: z.string().nullish(), description: Text.nullish() })
    .nullish(),
  metadata: Metadata,
  relationships: z.object({ app: ToOne, service_instance: ToOne }).nullish(),
});
export type Binding = z.infer<typeof Binding>;

export const App = z.object({
  guid: Guid,
  name: Text,
  state: z.string().nullish(),
  lifecycle: z.object({ type: z.string().nullish() }).nullish(),
  relationships: z.object({ space: ToOne }).nullish(),
});
export type App = z.infer<typeof App>;

export const Space = z.object({
  guid: Guid,
  name: Text,
  relationships: z.object({ organization: ToOne }).nullish(),
});
export const Organization = z.object({ guid: Guid, name: Text });

export const Job = z.object({
  guid: Guid,
  state: z.string(),
  errors: z
    .array(z.object({ code: z.number().nullish(), title: Text.nullish(), detail: Text.nullish() }))
    .nullish(),
});

export const Package = z.object({ guid: Guid, state: z.string(), created_at: z.string().nullish() });
export type Package = z.infer<typeof Package>;

export const Build = z.object({
  guid: Guid,
  state: z.string(),
  error: Text.nullish(),
  created_at: z.string().max(60).nullish(),
  droplet: z.object({ guid: Guid }).nullish(),
  metadata: Metadata,
});
export type Build = z.infer<typeof Build>;

export const Deployment = z.object({
  guid: Guid,
  created_at: z.string().max(60).nullish(),
  updated_at: z.string().max(60).nullish(),
  status: z.object({
    value: z.string().nullish(),
    reason: z.string().nullish(),
    details: z
      .object({ error: Text.nullish(), last_successful_healthcheck: z.string().nullish() })
      .nullish()
      .catch(undefined),
  }),
  droplet: z.object({ guid: Guid.nullish() }).nullish(),
  metadata: Metadata,
});
export type Deployment = z.infer<typeof Deployment>;

export const Droplet = z.object({ guid: Guid, created_at: z.string().max(60).nullish() });

export const ProcessStats = z.object({
  resources: z.array(
    z.object({
      index: z.number().nullish(),
      state: z.string().nullish(),
      uptime: z.number().nullish(),
      details: Text.nullish(),
    }),
  ),
});

export const Process = z.object({ instances: z.number() });
export const ProcessOfApp = z.object({ guid: Guid, type: z.string(), instances: z.number() });

export const ServicePlan = z.object({ relationships: z.object({ service_offering: ToOne }).nullish() });
export const ServiceOffering = z.object({
  broker_catalog: z
    .object({ features: z.object({ bindings_retrievable: z.boolean().nullish() }).nullish() })
    .nullish(),
});

export const AuditEvent = z.object({
  guid: Guid,
  type: z.string().max(100),
  created_at: z.string().max(60).nullish(),
});

export const UsageSummary = z.object({
  usage_summary: z.array(z.object({ space: z.object({ guid: Guid }), bound_app_count: z.number() })),
});

/** Reported by a platform that publishes its limit; the API itself does not have it (RFC 0040). */
const LimitOfBindings = z.object({
  max_service_credential_bindings_per_app_service_instance: z.number().optional(),
});
export const Info = LimitOfBindings.extend({ custom: LimitOfBindings.nullish().catch(undefined) });

export const Parameters = z.record(z.string(), z.unknown());

export const Errors = z.object({
  errors: z.array(
    z.object({ code: z.number().nullish(), title: z.string().nullish(), detail: z.string().nullish() }),
  ),
});
