import { openTestSession, type TestSession, type VercelProject, type VercelServer } from '@strongroom/sync-testkit';
import type { Static } from 'typebox';
import { createVercelDestination, type VercelConnection } from '../src/index.ts';

export const never = new AbortController().signal;

/** A session to the server and its project. */
export function openSession(
  server: VercelServer,
  project: VercelProject,
  change: Partial<Static<typeof VercelConnection>> = {},
): Promise<TestSession> {
  return openTestSession(createVercelDestination({ endpoint: server.url }), {
    access_token: server.token,
    project_id: project.id,
    team_id: project.teamId,
    deployment_environments: ['production', 'preview'],
    ...change,
  });
}
