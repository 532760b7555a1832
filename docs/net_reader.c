/* Reads a Chuhe net file (docs/net-format.md, version 1) and evaluates positions with it.
 *
 *   cc -O2 net_reader.c -lzstd -o net_reader
 *   net_reader NET < FENS          one FEN a line in, "raw cp" a line out
 *
 * Written from the document alone, for little-endian machines with 32-bit int. Not fast. A test
 * compiles it and holds it against the reference evaluator.                                   */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t ZSTD_decompress(void *to, size_t capacity, const void *from, size_t size); /* zstd.h */

static void die(const char *why) { fprintf(stderr, "net_reader: %s\n", why); exit(1); }

/* ---- SHA-256 (FIPS 180-4) ---------------------------------------------------------------- */
static uint32_t K[64];
static uint32_t ror(uint32_t x, int n) { return x >> n | x << (32 - n); }
static void sha_block(uint32_t h[8], const uint8_t *p) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4*i] << 24 | p[4*i+1] << 16 | p[4*i+2] << 8 | p[4*i+3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i-16] + (ror(w[i-15], 7) ^ ror(w[i-15], 18) ^ w[i-15] >> 3) + w[i-7]
             + (ror(w[i-2], 17) ^ ror(w[i-2], 19) ^ w[i-2] >> 10);
    memcpy(s, h, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t t1 = s[7] + (ror(s[4], 6) ^ ror(s[4], 11) ^ ror(s[4], 25))
                    + ((s[4] & s[5]) ^ (~s[4] & s[6])) + K[i] + w[i];
        uint32_t t2 = (ror(s[0], 2) ^ ror(s[0], 13) ^ ror(s[0], 22))
                    + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 28);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) h[i] += s[i];
}
/* The first 32 bits of the fraction of the square (cube) root of the n-th prime, by search. */
static uint32_t root_bits(uint64_t prime, int cube) {
    uint64_t low = 0, high = (uint64_t)20 << 32; /* root * 2^32 */
    while (high - low > 1) {
        unsigned __int128 mid = (low + high) / 2, p = mid * mid; /* scale 2^64 */
        int above = cube ? p * mid >> 96 >= prime : p >> 64 >= prime; /* mid^3 < 2^110 */
        if (above) high = (uint64_t)mid; else low = (uint64_t)mid;
    }
    return (uint32_t)low;
}
static void sha256(const uint8_t *data, uint64_t n, uint8_t out[32]) {
    uint32_t h[8], count = 0;
    for (uint32_t p = 2; count < 64; p++) {
        int prime = 1;
        for (uint32_t d = 2; d * d <= p; d++) prime &= p % d != 0;
        if (!prime) continue;
        if (count < 8) h[count] = root_bits(p, 0);
        K[count++] = root_bits(p, 1);
    }
    uint64_t i = 0;
    for (; i + 64 <= n; i += 64) sha_block(h, data + i);
    uint8_t tail[128] = {0};
    memcpy(tail, data + i, n - i);
    tail[n - i] = 0x80;
    int len = n - i < 56 ? 64 : 128;
    for (int k = 0; k < 8; k++) tail[len - 1 - k] = (uint8_t)(n * 8 >> 8 * k);
    for (int k = 0; k < len; k += 64) sha_block(h, tail + k);
    for (int k = 0; k < 32; k++) out[k] = (uint8_t)(h[k / 4] >> (24 - 8 * (k % 4)));
}

/* ---- the net ------------------------------------------------------------------------------ */
enum { KING, ADVISOR, BISHOP, KNIGHT, ROOK, CANNON, PAWN };
static char set_name[32];
static int mirrored_set, kings, attack_buckets, inputs, slots;
static int l1, l2, l3, pairwise, stacks = 1, psqt, dense_in;
static const int16_t *ft_bias, *ft;
static const int32_t *psqt_weights;
static const uint8_t *stack_data;
static size_t stack_size;

static uint32_t u32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }
static uint64_t u64(const uint8_t *p) { uint64_t v; memcpy(&v, p, 8); return v; }

static void read_net(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) die("cannot open the file");
    fseek(f, 0, SEEK_END);
    uint64_t size = (uint64_t)ftell(f);
    rewind(f);
    uint8_t *b = malloc(size + 1), digest[32];
    if (!b || fread(b, 1, size, f) != size) die("cannot read the file");
    fclose(f);
    if (size < 184 || memcmp(b, "ChuheNet", 8)) die("no Chuhe net");
    if (u32(b + 8) != 1) die("unknown version");
    uint64_t description = u32(b + 132), raw = u64(b + 136), payload = u64(b + 144);
    if (payload > size || 152 + description + payload + 32 != size) die("wrong length");
    sha256(b, size - 32, digest);
    if (memcmp(digest, b + size - 32, 32)) die("wrong checksum");
    static const uint16_t scales[8] = {256, 255, 128, 127, 128, 64, 128, 600};
    if (memcmp(b + 116, scales, 16)) die("unknown scales");

    char text[65] = {0}, activation[16], words[2][16] = {"", ""};
    memcpy(text, b + 52, 64);
    int n = sscanf(text, "%31s 2x%d-%d-%d-1 %15s %15s %15s", set_name, &l1, &l2, &l3, activation,
                   words[0], words[1]);
    if (n < 5 || l1 < 128 || l1 > 2048 || l2 < 8 || l2 > 128 || l3 < 8 || l3 > 128)
        die("bad architecture");
    pairwise = !strcmp(activation, "pairwise");
    for (int i = 0; i < 2; i++) {
        if (!strcmp(words[i], "8-stacks")) stacks = 8;
        if (!strcmp(words[i], "16-stacks")) stacks = 16;
        if (!strcmp(words[i], "psqt")) psqt = 1;
    }
    mirrored_set = strcmp(set_name, "half-kp") != 0;
    kings = !strncmp(set_name, "half-ka", 7);
    attack_buckets = !strcmp(set_name, "half-ka-hm-ab") ? 4 : 1;
    slots = kings ? 689 : 674;
    inputs = (mirrored_set ? 6 : 9) * attack_buckets * slots;
    dense_in = pairwise ? l1 : 2 * l1;

    uint64_t columns = psqt ? (uint64_t)stacks : 0;
    stack_size = 4 * (size_t)l2 + (size_t)l2 * dense_in + 4 * (size_t)l3 + (size_t)l3 * l2 + 4 + l3;
    uint64_t ft_bytes = 2 * (uint64_t)l1 * (inputs + 1);
    if (raw != ft_bytes + 4 * inputs * columns + stacks * stack_size) die("wrong raw length");
    uint8_t *w = malloc(raw);
    if (!w || ZSTD_decompress(w, raw, b + 152 + description, payload) != raw) die("bad payload");
    ft_bias = (const int16_t *)w;
    ft = ft_bias + l1;
    psqt_weights = (const int32_t *)(w + ft_bytes);
    stack_data = w + ft_bytes + 4 * inputs * columns;
    free(b);
}

/* ---- the position: board[rank][file], 0 empty, 1 + kind own, 8 + kind enemy ---------------- */
typedef struct { int at[10][9]; } Board;
static int count(const Board *b, int kind, int enemy) {
    int n = 0;
    for (int i = 0; i < 90; i++) n += b->at[i / 9][i % 9] == 1 + kind + 7 * enemy;
    return n;
}
static int stands(int kind, int rank, int file) { /* can an own piece stand there? */
    switch (kind) {
    case KING: return file >= 3 && file <= 5 && rank <= 2;
    case ADVISOR: return (file == 4 && rank == 1) || ((file == 3 || file == 5) && (rank == 0 || rank == 2));
    case BISHOP: return rank == 2 ? file % 4 == 0 : (rank == 0 || rank == 4) && (file == 2 || file == 6);
    case PAWN: return rank >= 5 || (rank >= 3 && file % 2 == 0);
    default: return 1;
    }
}
static int number(int kind, int enemy, int rank, int file) { /* among the squares of its zone */
    int n = 0;
    for (int i = 0; i < rank * 9 + file; i++) n += stands(kind, enemy ? 9 - i / 9 : i / 9, i % 9);
    return n;
}
/* Red's board as a side sees it. */
static Board seen(const Board *red, int black) {
    Board b;
    for (int r = 0; r < 10; r++)
        for (int f = 0; f < 9; f++) {
            int p = red->at[black ? 9 - r : r][f];
            b.at[r][f] = !p || !black ? p : p > 7 ? p - 7 : p + 7;
        }
    return b;
}
static int king_file(const Board *b, int enemy) {
    for (int i = 0; i < 90; i++)
        if (b->at[i / 9][i % 9] == 1 + KING + 7 * enemy) return i % 9;
    die("no king");
    return 0;
}
static int mirrored(const Board *b) {
    static const int order[6] = {ROOK, CANNON, KNIGHT, PAWN, BISHOP, ADVISOR};
    for (int enemy = 0; enemy < 2; enemy++)
        if (king_file(b, enemy) != 4) return king_file(b, enemy) > 4;
    for (int k = 0; k < 12; k++) {
        int p = 1 + order[k / 2] + 7 * (k % 2), balance = 0;
        for (int i = 0; i < 90; i++)
            if (b->at[i / 9][i % 9] == p) balance += (i % 9 > 4) - (i % 9 < 4);
        if (balance) return balance > 0;
    }
    for (int k = 0; k < 12; k++) {
        int p = 1 + order[k / 2] + 7 * (k % 2);
        for (int r = 9; r >= 0; r--)
            for (int f = 3; f >= 0; f--) {
                int left = b->at[r][f] == p, right = b->at[r][8 - f] == p;
                if (left != right) return right;
            }
    }
    return 0;
}
/* Active features of the board that a side sees; returns how many. */
static int features(const Board *board, int out[32]) {
    static const int base[7] = {0, 0, 5, 12, 102, 192, 282};
    Board b = *board;
    if (mirrored_set && mirrored(board))
        for (int i = 0; i < 90; i++) b.at[i / 9][i % 9] = board->at[i / 9][8 - i % 9];
    int bucket = 0, n = 0;
    for (int i = 0; i < 90; i++)
        if (b.at[i / 9][i % 9] == 1 + KING) bucket = i / 9 * (mirrored_set ? 2 : 3) + i % 9 - 3;
    if (attack_buckets == 4)
        bucket = 4 * bucket + 2 * (count(&b, ROOK, 0) > 0)
               + (count(&b, KNIGHT, 0) + count(&b, CANNON, 0) > 0);
    for (int i = 0; i < 90 && n < 32; i++) {
        int p = b.at[i / 9][i % 9], enemy = p > 7, kind = (p - 1) % 7, slot;
        if (!p || (kind == KING && !kings)) continue;
        if (kind == KING && enemy) slot = 680 + number(KING, 1, i / 9, i % 9);
        else if (kind == KING) slot = 674 + i / 9 * 2 + i % 9 - 3;
        else slot = 337 * enemy + base[kind] + number(kind, enemy, i / 9, i % 9);
        out[n++] = bucket * slots + slot;
    }
    return n;
}
static int choose_stack(const Board *b) { /* b as the side to move sees it */
    int own = count(b, ROOK, 0), enemy = count(b, ROOK, 1), minors = 0;
    for (int e = 0; e < 2; e++) minors += count(b, KNIGHT, e) + count(b, CANNON, e);
    if (stacks == 1) return 0;
    if (stacks == 8) return own == enemy ? 2 * own + (minors >= 5) : 6 + (own < enemy);
    if (own == enemy) return 4 * own + (minors >= 3) + (minors >= 5) + (minors >= 7);
    return 12 + 2 * (own < enemy) + (minors >= 4);
}

/* ---- evaluation --------------------------------------------------------------------------- */
static int clamp(int x, int high) { return x < 0 ? 0 : x > high ? high : x; }

/* One dense layer from *p on (biases, then weights by output); moves *p past it. */
static void dense(const uint8_t **p, const int *in, int n, int *out, int outputs, int shift) {
    const int8_t *w = (const int8_t *)*p + 4 * outputs;
    for (int o = 0; o < outputs; o++) {
        int sum = (int)u32(*p + 4 * o);
        for (int i = 0; i < n; i++) sum += w[o * n + i] * in[i];
        out[o] = shift < 0 ? sum : clamp(sum >> shift, 127); /* >> of a negative int: arithmetic */
    }
    *p += 4 * outputs + outputs * n;
}
static int evaluate(const Board *red, int black_to_move) {
    static int in[4096], hidden1[128], hidden2[128];
    Board own = seen(red, black_to_move);
    int stack = choose_stack(&own), raw, psqt_sum = 0, *to = in;
    for (int side = 0; side < 2; side++) {
        Board b = seen(red, side ? !black_to_move : black_to_move);
        int active[32], n = features(&b, active), sums[2048];
        for (int j = 0; j < l1; j++) {
            sums[j] = ft_bias[j];
            for (int i = 0; i < n; i++) sums[j] += ft[(size_t)active[i] * l1 + j];
            sums[j] = clamp(sums[j], 255);
        }
        for (int i = 0; psqt && i < n; i++)
            psqt_sum += (side ? -1 : 1) * psqt_weights[(size_t)active[i] * stacks + stack];
        for (int j = 0; j < dense_in / 2; j++)
            *to++ = pairwise ? sums[j] * sums[j + l1 / 2] >> 9 : sums[j] >> 1;
    }
    const uint8_t *p = stack_data + stack * stack_size;
    dense(&p, in, dense_in, hidden1, l2, 7);
    dense(&p, hidden1, l2, hidden2, l3, 6);
    dense(&p, hidden2, l3, &raw, 1, -1);
    return raw + psqt_sum;
}

int main(int argc, char **argv) {
    char line[512];
    if (argc != 2) die("usage: net_reader NET < FENS");
    read_net(argv[1]);
    while (fgets(line, sizeof line, stdin)) {
        Board red = {0};
        int rank = 9, file = 0;
        const char *c = line, *letters = "KABNRCPkabnrcp", *found;
        for (; *c && *c != ' '; c++) {
            if (*c == '/') rank--, file = 0;
            else if (*c >= '1' && *c <= '9') file += *c - '0';
            else if ((found = strchr(letters, *c)) && rank >= 0 && file < 9)
                red.at[rank][file++] = 1 + (int)(found - letters);
            else die("bad FEN");
        }
        int raw = evaluate(&red, *c && c[1] == 'b');
        int64_t cp = (int64_t)raw * 600 / 16384;
        printf("%d %d\n", raw, (int)(cp > 20000 ? 20000 : cp < -20000 ? -20000 : cp));
    }
    return 0;
}
