// Clients in TypeScript: the SDK of either era. Each lists the tools and makes the calls that standard input plans,
// all clients at once, and standard output tells what each heard.
//
// They check what comes back against the output schemas that were listed, and throw where it does not fit.
import { readFileSync } from "node:fs";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const me = { name: "peer", version: "1" };
const { url, token, plan } = JSON.parse(readFileSync(0, "utf8"));
const options = { requestInit: { headers: { Authorization: `Bearer ${token}` } } };

const clients = {
  "typescript-client-modern": () => new Client(me, { versionNegotiation: { mode: "auto" } }),
  "typescript-client-2025-11-25": () => new Client(me),
  "typescript-client-2025-06-18": () => new Client(me, { supportedProtocolVersions: ["2025-06-18"] }),
};

async function conversation(client, transport) {
  await client.connect(transport);
  try {
    const { tools } = await client.listTools();
    const said = {};
    for (const [key, call] of Object.entries(plan)) said[key] = await outcome(client, call);
    return { revision: revisionOf(client, transport), server: client.getServerVersion()?.name ?? "", tools, said };
  } finally {
    await client.close();
  }
}

const outcome = (client, call) =>
  client.callTool(call).catch((error) => {
    if (typeof error.code !== "number") throw error;
    return { error: { code: error.code, message: error.message } };
  });

const revisionOf = (client, transport) => client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion;

const talks = Object.entries(clients).map(([name, made]) => [
  name,
  conversation(made(), new StreamableHTTPClientTransport(new URL(url), options)),
]);
talks.push(["typescript-sdk-2025-11-25", conversation(new OldClient(me), new OldTransport(new URL(url), options))]);

const told = {};
for (const [name, talk] of talks) told[name] = await talk;
console.log(JSON.stringify(told));
