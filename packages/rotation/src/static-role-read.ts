import type { Collection } from '@strongroom/engine-sdk';
import { Type, type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import { visiblePlan, visiblePlanFields, type RotationPlan } from './rotation-plan.ts';
import { RotationStatus } from './rotation-status.ts';

/** How an engine answers the read of a static role. */
export interface StaticRoleRead<F extends TProperties, R> {
  readonly roles: Pick<Collection<R>, 'get'>;
  /** What an answer has beside the plan, the time of the last rotation and the status. */
  readonly response: F;
  visible(name: string, role: R): Static<TObject<F>>;
  /** The time of the last rotation: its schema, and its text for milliseconds, 0 for never. Default: RFC 3339, null for never. */
  readonly time?: { readonly schema: TSchema; of(millis: number): string };
  status(name: string, role: R): Promise<RotationStatus>;
}

/** The operation that reads a static role. */
export function staticRoleRead<F extends TProperties, R extends RotationPlan & { readonly last_rotation: number }>(
  read: StaticRoleRead<F, R>,
) {
  const { time } = read;
  const response: TProperties = {
    ...read.response,
    ...visiblePlanFields,
    last_vault_rotation: time?.schema ?? Type.Union([Type.String(), Type.Null()]),
    status: RotationStatus,
  };
  const timeOf = time?.of.bind(time) ?? ((millis: number) => (millis === 0 ? null : new Date(millis).toISOString()));
  return {
    summary: 'Reads a static role.',
    response: Type.Object(response),
    handle: async ({ data: { name } }: { readonly data: { readonly name: string } }) => {
      const role = await read.roles.get(name);
      if (role === undefined) return undefined;
      const data: Record<string, unknown> = {
        ...(read.visible(name, role) as object),
        ...visiblePlan(role),
        last_vault_rotation: timeOf(role.last_rotation),
        status: await read.status(name, role),
      };
      return { data };
    },
  };
}
