// Faults of networks, on this machine only: each gives a port of 127.0.0.1.
import http from 'node:http';
import net from 'node:net';

const listening = (server) => new Promise((yes) => server.listen(0, '127.0.0.1', () => { server.unref(); yes(server.address().port); }));
const tcp = (meet) => listening(net.createServer((socket) => { socket.on('error', () => {}); meet(socket); }));

export const silent = () => tcp(() => {});
export const resets = () => tcp((socket) => socket.once('data', () => socket.resetAndDestroy()));
export const hangsUp = () => tcp((socket) => socket.once('data', () => socket.destroy()));
export const greets = (text, more = []) => tcp((socket) => { socket.write(text); socket.on('data', () => more.length && socket.write(more.shift())); });
export const gibberish = () => tcp((socket) => { socket.write('\u0000\u0001what\r\n\r\n'); socket.once('data', () => socket.end('hm\r\n')); });

/** A port where nothing listens. */
export async function closed() {
  const server = net.createServer();
  const port = await new Promise((yes) => server.listen(0, '127.0.0.1', () => yes(server.address().port)));
  await new Promise((yes) => server.close(yes));
  return port;
}

/** An HTTP server that gives one answer to whatever is asked. */
export function answers(status, body = '', headers = {}) {
  return listening(http.createServer((request, response) => {
    request.resume();
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json', ...headers });
    response.end(text);
  }));
}

/** An HTTP server that breaks off in its answer. */
export const breaksOff = () => listening(http.createServer((request, response) => {
  response.writeHead(200, { 'content-length': 1000, 'content-type': 'application/json' });
  response.write('{"items": [1, 2');
  setTimeout(() => response.destroy(), 30);
}));

/** A server that answers commands of mail and of files: `{ RCPT: '550 no' }`; `''` is the greeting. */
export function speaks(codes, usual = '250 ok') {
  return tcp((socket) => {
    socket.write(`${codes[''] ?? '220 ready'}\r\n`);
    socket.on('data', (part) => {
      for (const line of String(part).split('\r\n').filter(Boolean)) {
        const word = line.split(' ')[0].toUpperCase();
        socket.write(`${codes[word] ?? usual}\r\n`);
        if (/^421/.test(codes[word] ?? '')) socket.end();
      }
    });
    if (/^421/.test(codes[''] ?? '')) socket.end();
  });
}

const PLACES = { closed, silent, resets, hangs: hangsUp, broken: breaksOff, gibberish, plain: () => answers(200, '<html>hello</html>') };

/** The port that a word stands for: closed, silent, resets, hangs, broken, gibberish, plain, or a status (`503`). */
export const port = (word) => (/^\d{3}$/.test(word) ? answers(+word, http.STATUS_CODES[word], word === '429' ? { 'retry-after': '7' } : {}) : PLACES[word]());

async function loops() {
  return listening(http.createServer((request, response) => { response.writeHead(302, { location: request.url }); response.end(); }));
}

/** Arguments in which `net:word` became an address and `port:word` a port. */
export async function placed(args) {
  const out = {};
  for (const [key, value] of Object.entries(args)) {
    const [, what, word] = /^(nets?|port|host):(\w+)$/.exec(value) ?? [];
    if (!what) out[key] = value;
    else if (what === 'port') out[key] = await port(word);
    else if (what === 'host') out[key] = `127.0.0.1:${await port(word)}`;
    else out[key] = `${what === 'nets' ? 'https' : 'http'}://127.0.0.1:${await (word === 'loop' ? loops() : port(word))}/v1/items`;
  }
  return out;
}

/** The address of a server that gives one answer, and slow ones never. */
export const base = async (status, body, headers) => `http://127.0.0.1:${await (status ? answers(status, body, headers) : silent())}`;
