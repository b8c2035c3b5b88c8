import { MongoClient } from 'mongodb';

/** Logs in past the plugin. */
export async function login(port: number, username: string, password: string, db = 'admin'): Promise<unknown> {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/${db}`, { auth: { username, password } });
  try {
    return await client.db(db).command({ ping: 1 });
  } finally {
    await client.close();
  }
}
