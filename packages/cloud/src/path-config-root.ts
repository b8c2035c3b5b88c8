import { type AnyPath, BadRequest, type EngineHost, f, NoContent, path } from '@strongroom/engine-sdk';
import { rootPlanOf, rootPlanParameters, rotatesByItself, RotationStatus, visiblePlan, visiblePlanFields } from '@strongroom/rotation';
import { Type } from 'typebox';
import type { CloudProvider } from './cloud-provider.ts';
import { recordsIn, ROOT, type RootRecord } from './records.ts';
import type { Root } from './root.ts';
import {
  requireEndpoint,
  requireRegion,
  requireSecret,
  stsPlacesOf,
  stsPlacesParameters,
  StsPlacesRecord,
  visiblePlaces,
} from './sts-places.ts';
import {
  visibleWebIdentity,
  visibleWebIdentityFields,
  webIdentityOf,
  webIdentityParameters,
  type WebIdentityRecord,
} from './web-identity.ts';
import { ROOT_CALLED, type RootRotation } from './root-rotation.ts';
import { managerOf } from './static-keys.ts';
import { retryAll } from './targets.ts';

/** The SDK would make of more retries what a request has no time for. */
const MOST_RETRIES = 100;

export function configRootPaths(
  host: EngineHost,
  { provider, root, rotation }: { provider: CloudProvider; root: Root; rotation: RootRotation },
): readonly AnyPath[] {
  const records = recordsIn(host.storage);

  const config = path('config/root', {
    synopsis: 'The root credential, and where the provider is reached.',
    description:
      'A write replaces the whole configuration: what it does not send is cleared. Without access_key and secret_key the credential is taken from ' +
      'the environment of the server, then from the shared credentials files, then from the role of the container or the machine; with role_arn and ' +
      'identity_token_audience the server assumes a role with an identity token of its own. Whether the credential is good is not tried.',
    fields: {
      access_key: f.string('Id of the access key.', { default: '' }),
      secret_key: f.secret('The secret of the access key; never shown.', { default: '' }),
      region: f.string('Region; otherwise AWS_REGION, AWS_DEFAULT_REGION, us-east-1.', { default: '' }),
      iam_endpoint: f.string('HTTP endpoint of IAM, where it is not the usual one.', { default: '' }),
      sts_endpoint: f.string('HTTP endpoint of STS, where it is not the usual one.', { default: '' }),
      ...stsPlacesParameters,
      max_retries: f.int("How often a failed call is sent again; -1 for the client library's default.", { default: -1 }),
      username_template: f.string('Template of the names of users and sessions. Data: Type (IAM or STS), DisplayName, PolicyName.', {
        default: '',
      }),
      ...webIdentityParameters,
      ...rootPlanParameters,
      adopt: f.bool('Take the key over from another mount that manages its user.', { default: false }),
    },
  })
    .read({
      summary: 'Reads the configuration, without its secret.',
      response: Type.Object({
        access_key: Type.String(),
        region: Type.String(),
        iam_endpoint: Type.String(),
        sts_endpoint: Type.String(),
        max_retries: Type.Integer(),
        ...StsPlacesRecord.properties,
        username_template: Type.String(),
        ...visibleWebIdentityFields,
        ...visiblePlanFields,
        root_rotation: RotationStatus,
      }),
      handle: async () => {
        const record = await records.root.get(ROOT);
        if (!record) return undefined;
        const { access_key, region, iam_endpoint, sts_endpoint, max_retries, username_template } = record;
        return {
          data: {
            access_key,
            region,
            iam_endpoint,
            sts_endpoint,
            max_retries,
            ...visiblePlaces(record),
            ...(await visibleWebIdentity(host, record)),
            username_template: username_template || provider.usernameTemplate,
            ...visiblePlan(record),
            root_rotation: await rotation.rotation.status(ROOT, record),
          },
        };
      },
    })
    .upsert({
      summary: 'Replaces the configuration.',
      response: NoContent,
      exists: async () => records.root.has(ROOT),
      handle: async (req) => {
        const record = recordOf(req.data);
        await root.tryToken(record);
        const complaint = root.names(record.username_template).complaint();
        const warnings = [...(provider.settingsWarnings?.(record) ?? []), ...(complaint === undefined ? [] : [complaint])];
        await req.storage.transaction(async (tx) => rotation.overwrite(tx, record));
        root.changed();
        warnings.push(...(await rotation.sharingWarnings(record)));
        await retryAll(host, { root: ROOT_CALLED, role: managerOf });
        return warnings.length === 0 ? undefined : { warnings };
      },
    });
  return [config];
}

interface Sent extends Required<StsPlacesRecord>, Required<WebIdentityRecord> {
  readonly access_key: string;
  readonly secret_key: string;
  readonly region: string;
  readonly iam_endpoint: string;
  readonly sts_endpoint: string;
  readonly max_retries: number;
  readonly username_template: string;
  readonly rotation_period: number | undefined;
  readonly rotation_schedule: string | undefined;
  readonly rotation_window: number | undefined;
  readonly disable_automated_rotation: boolean | undefined;
  readonly adopt: boolean;
}

function recordOf({
  rotation_period,
  rotation_schedule,
  rotation_window,
  disable_automated_rotation,
  adopt,
  sts_region,
  sts_fallback_endpoints,
  sts_fallback_regions,
  role_arn,
  identity_token_audience,
  identity_token_key,
  identity_token_ttl,
  ...settings
}: Sent): RootRecord {
  if ((settings.access_key === '') !== (settings.secret_key === '')) {
    const missing = settings.access_key === '' ? 'access_key' : 'secret_key';
    throw new BadRequest(
      `${missing} is required: give both access_key and secret_key, or neither to use the credential of the server's surroundings`,
    );
  }
  if (settings.max_retries < -1 || settings.max_retries > MOST_RETRIES) {
    throw new BadRequest(`max_retries must be -1, for the client library's default, or from 0 to ${MOST_RETRIES}`);
  }
  for (const field of ['iam_endpoint', 'sts_endpoint'] as const) if (settings[field] !== '') requireEndpoint(field, settings[field]);
  requireRegion('region', settings.region);
  const places = stsPlacesOf({ sts_region, sts_fallback_endpoints, sts_fallback_regions });
  const identity = webIdentityOf({ role_arn, identity_token_audience, identity_token_key, identity_token_ttl }, settings.access_key);
  if (identity.role_arn !== undefined) for (const endpoint of [settings.sts_endpoint, ...sts_fallback_endpoints]) requireSecret(endpoint);
  const plan = rootPlanOf(undefined, { rotation_period, rotation_schedule, rotation_window, disable_automated_rotation });
  if (rotatesByItself(plan) && settings.access_key === '') {
    throw new BadRequest(
      'rotation_period and rotation_schedule need access_key and secret_key: a credential found elsewhere is not rotated here',
    );
  }
  return { ...settings, ...places, ...identity, ...plan, ...(adopt ? { adopt } : {}), last_rotation: 0, next_rotation: 0 };
}
