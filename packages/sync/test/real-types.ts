import type { Plugin } from '@strongroom/engine-sdk';
import { rsaKeyPair } from '@strongroom/lab';
import { awsSmDestination } from '@strongroom/sync-aws-sm';
import { azureKvDestination } from '@strongroom/sync-azure-kv';
import { gcpSmDestination } from '@strongroom/sync-gcp-sm';
import { githubDestination } from '@strongroom/sync-github';
import { vercelDestination } from '@strongroom/sync-vercel';
import type { Data } from './sync-mount.ts';

/** The five destinations as the server lists them; nothing in these tests connects. */
export const realDestinations = [
  awsSmDestination,
  azureKvDestination,
  gcpSmDestination,
  githubDestination,
  vercelDestination,
] as unknown as Plugin[];

const { privateKey } = rsaKeyPair();

export const GOOGLE_KEY = JSON.stringify({
  type: 'service_account',
  project_id: 'my-project-123',
  client_email: 'sync@my-project-123.iam.gserviceaccount.com',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
});

export interface RealType {
  /** As the specification spells it. */
  readonly neutral: string;
  /** As answers carry it. */
  readonly type: string;
  /** A body with all that is required. */
  readonly body: Data;
}

const ID = '00000000-0000-0000-0000-00000000000';

export const REAL_TYPES: readonly RealType[] = [
  {
    neutral: 'cloud1-sm',
    type: 'aws-sm',
    body: { access_key_id: 'AKIAIOSFODNN7EXAMPLE', secret_access_key: 'wJalrXUtnFEMI', region: 'eu-central-1' },
  },
  {
    neutral: 'cloud2-kv',
    type: 'azure-kv',
    body: { key_vault_uri: 'https://shop.vault.azure.net', client_id: `${ID}2`, client_secret: 'azure-secret', tenant_id: `${ID}1` },
  },
  { neutral: 'cloud3-sm', type: 'gcp-sm', body: { credentials: GOOGLE_KEY } },
  { neutral: 'codehost', type: 'gh', body: { access_token: 'github_pat_1', repository_owner: 'acme', repisitory_name: 'shop' } },
  {
    neutral: 'webhost-project',
    type: 'vercel-project',
    body: {
      access_token: 'vercel-token',
      project_id: 'prj_1',
      team_id: 'team_1',
      deployment_environments: 'development,preview,production',
    },
  },
];
