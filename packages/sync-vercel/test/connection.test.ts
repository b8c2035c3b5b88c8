import { describe, expect, test } from '@jest/globals';
import { fieldSpec } from '@strongroom/engine-sdk';
import { nameComplaint, secretFields } from '@strongroom/sync-sdk';
import { VercelConnection, vercelDestination } from '../src/index.ts';

const connection = { access_token: 't', project_id: 'prj_1', team_id: undefined, deployment_environments: ['production'] };
const check = (change: object) => vercelDestination.check!({ ...connection, ...change });

describe('vercel-project (webhost-project)', () => {
  test('access_token, project_id and deployment_environments are required, team_id is not; access_token is a secret', () => {
    const { properties } = VercelConnection;
    const required = Object.entries(properties).filter(([, field]) => fieldSpec(field).required === true);
    expect(required.map(([name]) => name)).toEqual(['access_token', 'project_id', 'deployment_environments']);
    expect(secretFields(VercelConnection)).toEqual(['access_token']);
  });

  test('deployment_environments takes development, preview and production', () => {
    expect(check({ deployment_environments: ['development', 'preview', 'production'] })).toEqual([]);
    expect(check({ deployment_environments: [] })).toEqual([
      'deployment_environments must name at least one of development, preview, production',
    ]);
    expect(check({ deployment_environments: ['production', 'staging'] })[0]).toContain('not "staging"');
  });

  test('project_id and team_id are ids, and cannot lead to another address', () => {
    expect(check({ project_id: 'my-project', team_id: 'team_1' })).toEqual([]);
    for (const wrong of ['a/b', '../x', 'a?b', 'a b']) {
      expect(check({ project_id: wrong })).toHaveLength(1);
      expect(check({ team_id: wrong })).toHaveLength(1);
    }
  });

  test('names are letters, digits and underscores, and may not begin with VERCEL_', () => {
    const { name } = vercelDestination.limits(connection);
    expect(name.normalize('kv-1/my.secret')).toBe('kv_1_my_secret');
    expect(name.normalize('1st')).toBe('_1st');
    expect(nameComplaint(name, 'VERCEL_URL')).toContain('not with VERCEL_');
    expect(nameComplaint(name, 'a'.repeat(257))).toBeDefined();
  });
});
